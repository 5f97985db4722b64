//! Numbers computed by hand, and properties that hold for any rows.

mod advice_by_hand;
mod advice_properties;
mod build;
mod by_hand;
mod chunks_by_hand;
mod comparing;
mod ledger_by_hand;
mod ledger_properties;
mod properties;
