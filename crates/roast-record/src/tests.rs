//! Tests of recording as a whole.

mod damage;
mod make;
mod merging;
mod metrology;
mod sizes;
mod user_rows;
