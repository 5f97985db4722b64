//! Errors of the store as the exceptions a Python user expects.

use std::fmt::Arguments;

use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyOSError,
    PyValueError,
};
use pyo3::prelude::*;
use roast_store::{NewFileError, Shortage, StoreError};

create_exception!(
    roastcoffea._core,
    MeasurementError,
    PyValueError,
    "What was found is damaged, from a newer version, or not a measurement."
);

pub(crate) fn store_error(error: StoreError) -> PyErr {
    let message = error.to_string();
    match error {
        StoreError::NotFound { .. } => PyFileNotFoundError::new_err(message),
        StoreError::Exists { .. } | StoreError::WouldDestroy { .. } => {
            PyFileExistsError::new_err(message)
        }
        StoreError::BadName { .. } => PyValueError::new_err(message),
        StoreError::TooLarge { .. } => PyMemoryError::new_err(message),
        StoreError::Io { source, .. } => os_error(&source, message),
        _ => MeasurementError::new_err(message),
    }
}

/// What would not fit in memory as Python objects, and what to use instead.
pub(crate) fn too_large(what: Arguments<'_>, shortage: Shortage, instead: &str) -> PyErr {
    PyMemoryError::new_err(format!("{what} would be too large: {shortage}; {instead}"))
}

pub(crate) fn new_file_error(error: NewFileError) -> PyErr {
    let message = error.to_string();
    match error {
        NewFileError::Exists { .. } => PyFileExistsError::new_err(format!(
            "{message}: pass overwrite=True to replace it, or another path"
        )),
        NewFileError::Directory { .. } => {
            PyIsADirectoryError::new_err(format!("{message}: give the path of a file"))
        }
        NewFileError::InMeasurement { .. } => {
            PyValueError::new_err(format!("{message}: give a path outside of it"))
        }
        NewFileError::Io { source, .. } => {
            let message =
                format!("{message}: {source}; check the path, permissions and free space");
            os_error(&source, message)
        }
        _ => PyOSError::new_err(message),
    }
}

/// With the number first, Python picks `PermissionError` and the like.
pub(crate) fn os_error(source: &std::io::Error, message: String) -> PyErr {
    match source.raw_os_error() {
        Some(number) => PyOSError::new_err((number, message)),
        None => std::io::Error::new(source.kind(), message).into(),
    }
}
