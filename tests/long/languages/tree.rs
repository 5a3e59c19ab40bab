// SPDX-License-Identifier: MIT
// The call tree of tests/progs/calls.c in Rust: alpha is a method of a trait object, beta a generic
// function that gets a closure. Usage: tree SECONDS of elapsed time.
use std::arch::asm;
use std::time::{Duration, Instant};

const UNIT: u64 = 20_000;

// The loop is expanded inline, so that ticks are in the calling function.
macro_rules! burn {
    ($rounds:expr) => {
        unsafe { asm!(".p2align 6", "2:", "dec {0}", "jnz 2b", inout(reg) $rounds => _) }
    };
}

// A call before it is no jump.
macro_rules! not_last {
    () => {
        unsafe { asm!("") }
    };
}

trait Part {
    fn alpha(&self);
}

struct Own;

impl Part for Own {
    #[inline(never)]
    fn alpha(&self) {
        shared(10);
        burn!(10 * UNIT);
    }
}

#[inline(never)]
fn shared(percent: u64) {
    burn!(percent * UNIT);
}

#[inline(never)]
fn beta<Call: Fn(u64)>(call: Call) {
    burn!(20 * UNIT);
    call(20);
    not_last!();
}

#[inline(never)]
fn recurse(levels: u32) {
    burn!(10 * UNIT);
    if levels > 1 {
        recurse(levels - 1);
    }
    not_last!();
}

#[inline(never)]
fn work(part: &dyn Part) {
    part.alpha();
    beta(|percent| shared(percent));
    recurse(4);
    not_last!();
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let parts: Vec<Box<dyn Part>> = vec![Box::new(Own)];
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        for part in &parts {
            work(part.as_ref());
        }
    }
}
