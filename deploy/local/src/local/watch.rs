//! Says when the folder of objects may have changed. The system tells; a slow look of our own makes up for what it does
//! not tell (network file systems, a folder that was replaced).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

/// Editors write a file in several steps; a look in the middle would see half of it.
const SETTLE: Duration = Duration::from_millis(50);

/// Between looks that nothing asked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Watches one folder.
#[derive(Debug)]
pub struct Watch {
    changed: Arc<Notify>,
    /// Stops watching when it is dropped; none where the system cannot watch.
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Watches `folder` and what is below it. Where the system cannot, [`Self::changed`] comes by time alone.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let changed = Arc::new(Notify::new());
        let told = Arc::clone(&changed);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading the folder is an event, too.
            if !event.is_ok_and(|event| event.kind.is_access()) {
                told.notify_one();
            }
        });
        let watcher = watcher.and_then(|mut watcher| watcher.watch(folder, RecursiveMode::Recursive).map(|()| watcher));
        if let Err(cause) = &watcher {
            tracing::warn!(
                error = cause as &dyn std::error::Error,
                "edits are noticed every few seconds: the system does not tell of them"
            );
        }
        Self { changed, _watcher: watcher.ok() }
    }

    /// Returns when the folder may have changed since the last return.
    pub async fn changed(&self) {
        if tokio::time::timeout(SWEEP, self.changed.notified()).await.is_ok() {
            tokio::time::sleep(SETTLE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_edit_is_told_of_and_reading_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let watch = Watch::new(folder.path());
        std::fs::write(folder.path().join("one.yaml"), "a: 1").unwrap();
        tokio::time::timeout(Duration::from_secs(4), watch.changed()).await.unwrap();
        // What the first write still had to say.
        while tokio::time::timeout(Duration::from_millis(300), watch.changed.notified()).await.is_ok() {}
        std::fs::read(folder.path().join("one.yaml")).unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(300), watch.changed.notified()).await.is_err());
        std::fs::remove_file(folder.path().join("one.yaml")).unwrap();
        tokio::time::timeout(Duration::from_secs(4), watch.changed()).await.unwrap();
    }
}
