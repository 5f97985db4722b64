//! `roastcoffea tables`: what each column of a measurement's tables means.

use std::io::Write;

use anyhow::Context;
use roast_model::Table;
use roast_report::{markdown_tables, text_table, text_tables};

use crate::arguments::{ListFormat, TablesArguments};
use crate::failure::Failure;
use crate::terminal;

pub(crate) fn run(arguments: &TablesArguments) -> Result<(), Failure> {
    let width = terminal::width();
    let text = match (&arguments.table, arguments.format) {
        (Some(name), _) => match Table::from_name(name) {
            Some(table) => text_table(table, width),
            None => return Err(unknown(name)),
        },
        (None, Some(ListFormat::Markdown)) => markdown_tables(),
        (None, Some(ListFormat::Text) | None) => text_tables(width),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("could not print the tables")
        .map_err(Failure::from)
}

fn unknown(name: &str) -> Failure {
    let tables: Vec<&str> = Table::ALL.into_iter().map(Table::name).collect();
    Failure::usage(
        format!("there is no table {name:?}"),
        format!("the tables are {}", tables.join(", ")),
    )
}
