//! Numbers computed by hand, and properties that hold for any rows.

mod build;
mod by_hand;
mod properties;
