//! One statement for the appends of many conversations. IO; the committer decides what goes into a batch.

use std::collections::HashMap;

use sqlx::PgConnection;
use thetis_core::event::Timestamp;
use thetis_core::id::{ConversationId, Epoch, Seq};
use uuid::Uuid;

use super::{Append, Appended, append};
use crate::column::{At, signed, unsigned};
use crate::conversation::usage_columns;

/// An append as its columns take it: encoded by the caller's task, so that the committer only copies.
pub(super) struct Encoded {
    pub(super) conversation: ConversationId,
    epoch: Epoch,
    tail: Seq,
    turn: Option<i32>,
    events: Vec<(&'static str, String)>,
    end: Option<super::End>,
    /// Of all bodies.
    pub(super) bytes: usize,
}

impl Encoded {
    pub(super) fn of(append: &Append) -> Result<Self, append::Error> {
        let reject = |reason| Err(append::Error::Rejected { reason, fault: None });
        if append.bodies.is_empty() {
            return reject("it has no event");
        }
        if append.bodies.len() > super::MAX_EVENTS {
            return reject("it has too many events");
        }
        let Ok(turn) = append.turn.map(|turn| i32::try_from(turn.0)).transpose() else { return reject("the turn's number is too great") };
        let events: Vec<_> = append.bodies.iter().map(|body| (body.kind(), body.encode())).collect();
        let bytes = events.iter().map(|(_, body)| body.len()).sum();
        if bytes > super::MAX_BYTES {
            return reject("it has too many bytes");
        }
        let hold = append.hold;
        Ok(Self { conversation: hold.conversation, epoch: hold.epoch, tail: append.tail, turn, events, end: append.end, bytes })
    }
}

/// Locks and checks one row per conversation, in the order of their ids so that no two batches wait for each other, and
/// writes the events of those that passed. One row comes back for each of them.
const WRITE: &str = "
    with batch as (
        select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::boolean[],
                             $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
            as batch(id, epoch, next_seq, events, ends, runnable, steps, input, cache_read, cache_write, output, cost)
    ), locked as materialized (
        select batch.* from batch join conversation c on c.id = batch.id and c.epoch = batch.epoch and c.next_seq = batch.next_seq
        order by batch.id for no key update of c
    ), held as (
        update conversation c set
            next_seq = c.next_seq + batch.events,
            state = case when ends then 'idle' else c.state end,
            owner = case when ends then null else c.owner end,
            lease_until = case when ends then null else c.lease_until end,
            attempts = case when ends then 0 else c.attempts end,
            wake_at = case when not ends then c.wake_at when runnable then now() end,
            steps = c.steps + least(batch.steps, 9223372036854775807 - c.steps),
            input = c.input + least(batch.input, 9223372036854775807 - c.input),
            cache_read = c.cache_read + least(batch.cache_read, 9223372036854775807 - c.cache_read),
            cache_write = c.cache_write + least(batch.cache_write, 9223372036854775807 - c.cache_write),
            output = c.output + least(batch.output, 9223372036854775807 - c.output),
            cost = c.cost + least(batch.cost, 9223372036854775807 - c.cost)
        from locked batch
        where c.id = batch.id
        returning c.id
    ), written as (
        insert into event (conversation, seq, at, turn, kind, body)
        select e.id, e.seq, now(), e.turn, e.kind, e.body::json
        from unnest($13::uuid[], $14::bigint[], $15::integer[], $16::text[], $17::text[]) as e(id, seq, turn, kind, body)
        join held on held.id = e.id
    )
    select id, now() from held";

/// The conversations whose appends passed, and when.
pub(super) type Written = HashMap<ConversationId, Timestamp>;

/// Writes what passes its check, in one commit, and says which that was.
pub(super) async fn write(connection: &mut PgConnection, batch: &[&Encoded]) -> Result<Written, sqlx::Error> {
    let each = |column: fn(&Encoded) -> i64| batch.iter().map(|append| column(append)).collect::<Vec<i64>>();
    let flags = |column: fn(&Encoded) -> bool| batch.iter().map(|append| column(append)).collect::<Vec<bool>>();
    let usage: Vec<[i64; 6]> = batch.iter().map(|append| append.end.map_or([0; 6], |end| usage_columns(&end.usage))).collect();
    let ids: Vec<Uuid> = batch.iter().map(|append| append.conversation.0).collect();
    let mut query = sqlx::query_as::<_, (Uuid, At)>(WRITE)
        .bind(ids)
        .bind(each(|append| signed(append.epoch.0)))
        .bind(each(|append| signed(append.tail.next().0)))
        .bind(each(|append| signed(append.events.len() as u64)))
        .bind(flags(|append| append.end.is_some()))
        .bind(flags(|append| append.end.is_some_and(|end| end.runnable)));
    for column in 0..6 {
        query = query.bind(usage.iter().filter_map(|usage| usage.get(column).copied()).collect::<Vec<i64>>());
    }
    let events = || batch.iter().flat_map(|append| append.events.iter().zip(1..).map(move |(event, offset)| (append, event, offset)));
    let query = query
        .bind(events().map(|(append, ..)| append.conversation.0).collect::<Vec<Uuid>>())
        .bind(events().map(|(append, _, offset)| signed(append.tail.0.saturating_add(offset))).collect::<Vec<i64>>())
        .bind(events().map(|(append, ..)| append.turn).collect::<Vec<Option<i32>>>())
        .bind(events().map(|(_, (kind, _), _)| *kind).collect::<Vec<&str>>())
        .bind(events().map(|(_, (_, body), _)| body.as_str()).collect::<Vec<&str>>());
    let rows = query.fetch_all(connection).await?;
    Ok(rows.into_iter().map(|(id, at)| (ConversationId(id), at.0)).collect())
}

/// What became of one append of a batch that was written: `written` says which passed, `rows` how the others stand.
pub(super) fn verdict(append: &Encoded, written: &Written, rows: &Rows) -> Result<Appended, append::Error> {
    if let Some(at) = written.get(&append.conversation) {
        return Ok(Appended { first: append.tail.next(), at: *at });
    }
    // A row's numbers only grow, so whichever of them did not fit cannot fit now; where both do, the log has just got there.
    match rows.get(&append.conversation) {
        Some((epoch, tail)) if *epoch == append.epoch => Err(append::Error::Moved { tail: *tail }),
        _ => Err(append::Error::Fenced),
    }
}

/// Epoch and last event of conversations.
pub(super) type Rows = HashMap<ConversationId, (Epoch, Seq)>;

/// How the conversations of a batch stand that did not pass.
pub(super) async fn missed(connection: &mut PgConnection, batch: &[&Encoded], written: &Written) -> Result<Rows, sqlx::Error> {
    let missed: Vec<Uuid> = batch.iter().map(|append| append.conversation).filter(|id| !written.contains_key(id)).map(|id| id.0).collect();
    if missed.is_empty() {
        return Ok(Rows::new());
    }
    let rows = sqlx::query_as::<_, (Uuid, i64, i64)>("select id, epoch, next_seq - 1 from conversation where id = any($1)");
    let rows = rows.bind(missed).fetch_all(connection).await?;
    Ok(rows.into_iter().map(|(id, epoch, tail)| (ConversationId(id), (Epoch(unsigned(epoch)), Seq(unsigned(tail))))).collect())
}
