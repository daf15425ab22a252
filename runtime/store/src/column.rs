//! How values of ours stand in columns. Pure.
//!
//! Postgres has no unsigned integers. Sequence numbers, epochs and token counts beyond 2^63 do not occur; a caller that sends
//! one gets the greatest there is, which matches nothing and adds nothing wrong.

use sqlx::Postgres;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueFormat, PgValueRef};
use thetis_core::event::Timestamp;

/// As `bigint` takes it.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// From a `bigint` that is never negative.
pub(crate) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// From an `integer` or `bigint` that is never negative.
pub(crate) fn small(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

/// A `timestamptz`.
pub(crate) struct At(pub(crate) Timestamp);

impl sqlx::Type<Postgres> for At {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("timestamptz")
    }
}

impl sqlx::Decode<'_, Postgres> for At {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        /// Between 1970-01-01 and 2000-01-01, from which Postgres counts its microseconds.
        const EPOCH: i64 = 946_684_800_000_000;
        if value.format() != PgValueFormat::Binary {
            return Err("a timestamp in text format".into());
        }
        let micros = i64::from_be_bytes(value.as_bytes()?.try_into()?);
        Ok(Self(Timestamp(unsigned(micros.saturating_add(EPOCH) / 1000))))
    }
}

/// As an `interval` is made of it, in microseconds; at most a year.
pub(crate) fn micros(duration: std::time::Duration) -> i64 {
    const YEAR: u128 = 365 * 24 * 3600 * 1_000_000;
    i64::try_from(duration.as_micros().min(YEAR)).unwrap_or(i64::MAX)
}
