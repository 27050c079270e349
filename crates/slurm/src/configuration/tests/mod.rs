//! Sites by hand.
