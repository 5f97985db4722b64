//! Where findings go and how: the terminal or a file, in one of three formats.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use roast_report::FindingsFormat;
use serde_json::Value as Json;

use crate::arguments::{FindingsKind, FindingsOutput, When};
use crate::destination::File;
use crate::failure::Failure;
use crate::terminal;

/// Columns of text in a file.
const FILE_WIDTH: usize = 100;

/// Where findings go; a file is claimed before any work is done.
pub(crate) struct Target {
    file: Option<File>,
}

impl Target {
    pub(crate) fn begin(output: &FindingsOutput) -> Result<Self, Failure> {
        let path = output.output.as_ref().filter(|_| !output.to_stdout());
        Ok(Self { file: path.map(|path| File::begin(path, output.force)).transpose()? })
    }

    pub(crate) fn write(
        self,
        output: &FindingsOutput,
        render: impl FnOnce(FindingsFormat) -> String,
        json: impl FnOnce() -> Json,
    ) -> Result<(), Failure> {
        let to_file = self.file.is_some();
        let text = match output.format {
            FindingsKind::Text if to_file => {
                render(FindingsFormat::Text { width: FILE_WIDTH, color: false })
            }
            FindingsKind::Text => {
                render(FindingsFormat::Text { width: terminal::width(), color: true })
            }
            FindingsKind::Markdown => render(FindingsFormat::Markdown),
            FindingsKind::Json => format!("{:#}\n", json()),
        };
        match self.file {
            Some(file) => {
                file.writer().write_all(text.as_bytes()).context("could not write the findings")?;
                file.finish()
            }
            None => terminal::output(When::Auto)
                .write_all(text.as_bytes())
                .context("could not print the findings")
                .map_err(Failure::from),
        }
    }
}

/// Refuses a directory that is named twice, however it is spelled.
pub(crate) fn refuse_twice(directories: &[PathBuf]) -> Result<(), Failure> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for directory in directories {
        // One that is not there is told about when it is read.
        let Ok(resolved) = fs::canonicalize(directory) else { continue };
        if seen.contains(&resolved) {
            return Err(Failure::usage(
                format!("{} is given twice", directory.display()),
                "name each measurement once".to_owned(),
            ));
        }
        seen.push(resolved);
    }
    Ok(())
}
