//! Guests that a real engine runs, compiled by the real compiling process: good ones, hostile ones, and what is left
//! after them.

mod artifacts;
mod aspects;
mod canary;
mod cancel;
mod fixture;
mod hostile;
mod imports;
