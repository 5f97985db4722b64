//! `roastcoffea report`: a measurement as one HTML page.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use roast_report::{PageData, render_page};

use crate::arguments::ReportArguments;
use crate::destination::File;
use crate::export::STDOUT;
use crate::failure::Failure;
use crate::interrupt::{Interrupts, Watched};
use crate::progress::Progress;
use crate::show;

pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let interrupts = Interrupts::listen().context("could not listen for signals")?;
    if arguments.output.as_deref().map(Path::as_os_str) == Some(OsStr::new(STDOUT)) {
        let page = page(arguments, &interrupts)?;
        return write(&page, std::io::stdout().lock(), &interrupts).map_err(Failure::from);
    }
    // Begun before the work, which may take a while, so that it is not in vain.
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => {
            let header = show::header(&arguments.directory)?;
            PathBuf::from(format!("{}.html", roast_store::file_stem(&header.name)))
        }
    };
    let file = File::begin(&output, arguments.force)?;
    let page = page(arguments, &interrupts)?;
    write(&page, file.writer(), &interrupts)?;
    interrupts.check().map_err(anyhow::Error::new)?;
    file.finish()?;
    writeln!(std::io::stdout(), "{}", output.display())
        .context("could not print where it was written")
        .map_err(Failure::from)
}

fn page(arguments: &ReportArguments, interrupts: &Interrupts) -> Result<String, Failure> {
    let (measurement, metrics) = show::load(&arguments.directory)?;
    interrupts.check().map_err(anyhow::Error::new)?;
    let progress = Progress::reading();
    progress.file("drawing the page");
    Ok(render_page(&PageData::new(&measurement, &metrics)))
}

fn write(page: &str, out: impl Write, interrupts: &Interrupts) -> anyhow::Result<()> {
    let progress = Progress::start();
    progress.file("the page");
    let mut out = Watched { inner: out, interrupts, progress: &progress };
    out.write_all(page.as_bytes()).context("could not write the page")?;
    out.flush().context("could not write the page")
}
