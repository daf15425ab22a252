//! The compiling process as a binary of its own, for whatever embeds the runtime without the binary `thetis`.

use std::process::ExitCode;

fn main() -> ExitCode {
    thetis_runtime::artifact::child::run()
}
