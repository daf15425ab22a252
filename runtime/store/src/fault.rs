//! Whether a question to the database is worth asking again. Pure.

use std::sync::Arc;

/// Why the database did not do what it was asked. Cheap to clone: the appends of one commit share it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    /// It did not answer, or could not at the moment: restart, failover, full disk, lost connection, stall. Try again later.
    /// A write may have been done all the same: look first.
    #[error("the database did not answer")]
    Unavailable(#[source] Arc<sqlx::Error>),
    /// It answered no, and will again. Nothing was written.
    #[error("the database refused")]
    Refused(#[source] Arc<sqlx::Error>),
}

impl Fault {
    /// Whether the same question may get another answer later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }

    pub(crate) fn of(error: sqlx::Error) -> Self {
        let refused = match &error {
            sqlx::Error::Database(answer) => answer.code().is_none_or(|code| !passes(&code)),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => false,
            _ => true,
        };
        if refused { Self::Refused(Arc::new(error)) } else { Self::Unavailable(Arc::new(error)) }
    }

    /// The time for an answer ran out.
    pub(crate) fn late() -> Self {
        Self::of(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()))
    }
}

/// Whether a condition passes by itself, by its SQLSTATE: class 08 connection, 40 rollback by the server (deadlock,
/// serialisation), 53 out of a resource, 55P03 lock not available, 57 operator's intervention (restart, cancelled), 58 the
/// operating system; 25006, a server that was demoted to read-only.
fn passes(code: &str) -> bool {
    matches!(code.get(..2), Some("08" | "40" | "53" | "57" | "58")) || matches!(code, "55P03" | "25006")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes() {
        for code in ["08006", "40P01", "40001", "53100", "53300", "57P01", "57P03", "58030", "55P03", "25006"] {
            assert!(passes(code), "{code}");
        }
        for code in ["23505", "22P02", "42703", "54001", "XX000", "", "é"] {
            assert!(!passes(code), "{code}");
        }
        assert!(Fault::of(sqlx::Error::PoolTimedOut).is_retryable());
        assert!(!Fault::of(sqlx::Error::RowNotFound).is_retryable());
        assert!(Fault::late().is_retryable());
    }
}
