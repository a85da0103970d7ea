//! Tests of the table of statements and of its evidence.

mod evidence;
mod proof;
mod table;
