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

// At most as long as work(), and never the same: the clock of the ticks keeps no step with the rounds.
fn rest(random: &mut u64) {
    *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    burn!(1 + (*random >> 33) % (100 * UNIT));
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let parts: Vec<Box<dyn Part>> = vec![Box::new(Own)];
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut random = 1;
    while Instant::now() < end {
        for part in &parts {
            work(part.as_ref());
        }
        rest(&mut random);
    }
}
