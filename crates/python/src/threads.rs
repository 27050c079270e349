//! Threads after a fork: those of the pool are not there in the child, and whoever waits for them waits for ever.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that has the threads of the pool of all; 0 before there is one.
static OWNER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The pool of a thread of another process. Its threads end with it.
    static POOL: OnceCell<ThreadPool> = const { OnceCell::new() };
}

/// Gives the calling thread a pool of its own where that of all belongs to another process.
///
/// The thread is one of the pool: so it goes on with its work by itself, and may call Python's handlers of signals.
pub fn of_this_process() {
    let own = std::process::id();
    let owner = OWNER.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
    if owner.is_ok() || owner == Err(own) || rayon::current_thread_index().is_some() {
        return;
    }
    let pool = |count| {
        let pool = ThreadPoolBuilder::new().use_current_thread();
        pool.num_threads(count).build()
    };
    // Where no more threads can be had, it does all by itself.
    if let Ok(pool) = pool(0).or_else(|_| pool(1)) {
        POOL.with(|own| drop(own.set(pool)));
    }
}
