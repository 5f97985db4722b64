//! Errors of the store as the exceptions a Python user expects.

use pyo3::create_exception;
use pyo3::exceptions::{PyFileExistsError, PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use roast_store::StoreError;

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
        // With the number first, Python picks PermissionError and the like.
        StoreError::Io { source, .. } => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        _ => MeasurementError::new_err(message),
    }
}
