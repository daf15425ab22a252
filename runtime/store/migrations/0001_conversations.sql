-- Conversations and their logs.

create table conversation (
    id          uuid primary key,
    namespace   text not null,
    name        text not null,
    -- From the first message; never changed by itself afterwards.
    title       text,
    -- thetis_core::settings::Choice as the object declares it, and as a person picked it at run time. What was picked holds
    -- until the declared one is edited.
    declared    json not null,
    chosen      json,
    -- running: a turn is open, whether or not a process is at it just now.
    state       text not null default 'idle' check (state in ('idle', 'running', 'stopping', 'done')),
    suspended   boolean not null default false,
    -- One writer, fenced: every claim adds one to the epoch, and an append names the epoch it holds.
    epoch       bigint not null default 0,
    owner       text,
    lease_until timestamptz,
    next_seq    bigint not null default 1,
    attempts    integer not null default 0,
    -- When somebody should look at it; null: when input comes. Stays in the past while a turn runs, so that a turn whose
    -- lease runs out is found again.
    wake_at     timestamptz,
    created_at  timestamptz not null default now(),
    steps       bigint not null default 0,
    input       bigint not null default 0,
    cache_read  bigint not null default 0,
    cache_write bigint not null default 0,
    output      bigint not null default 0,
    cost        bigint not null default 0
-- An append updates its row once, and no index covers what it updates: with room left on the page it stays there (HOT).
) with (fillfactor = 50);

-- A name is free again once its conversation is done.
create unique index conversation_name on conversation (namespace, name) where state <> 'done';
-- The sweep. Leases are not in it: renewing one touches no index.
create index conversation_wake on conversation (wake_at) where wake_at is not null;

-- Rows are only ever added, by statements that advance next_seq of a locked conversation row by as many. So the numbers have
-- no gaps, a reader that has seen n has seen all before it, and a foreign key would only repeat, row by row, what the
-- statement has just proved.
create table event (
    conversation uuid not null,
    seq          bigint not null,
    at           timestamptz not null,
    turn         integer,
    kind         text not null,
    -- json, not jsonb: kept as written, and text may hold \u0000.
    body         json not null,
    primary key (conversation, seq)
);
