//! Thread pools after a fork: the threads of the global pool do not exist in the child, so waiting
//! for them would never end.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that owns the global pool; 0 before it exists.
static OWNER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static POOL: OnceCell<ThreadPool> = const { OnceCell::new() };
}

/// Gives the calling thread, which works along, a pool if the global one is of another process.
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
    if let Ok(pool) = pool(0).or_else(|_| pool(1)) {
        POOL.with(|own| drop(own.set(pool)));
    }
}
