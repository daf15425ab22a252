//! The tool barrier: which calls of one message run side by side. Pure; it knows nothing of tools but this one property.

use std::ops::Range;

#[cfg(test)]
mod tests;

/// Cuts one message's calls into the runs that are executed one after the other, in call order: each maximal run of
/// neighbours that may run side by side, and each other call alone. Nothing overtakes a call that runs alone.
///
/// `parallel` says for each call whether its tool's manifest allows company. A call that nothing runs for (an unknown tool,
/// a refusal, a result that is already decided) counts as parallel: it cannot disturb its neighbours, so it need not split
/// them.
///
/// The runs are never empty and together are `0..parallel.len()`.
#[must_use]
pub fn runs(parallel: &[bool]) -> Vec<Range<usize>> {
    let mut start = 0;
    parallel
        .chunk_by(|before, after| *before && *after)
        .map(|run| {
            let first = start;
            start += run.len();
            first..start
        })
        .collect()
}
