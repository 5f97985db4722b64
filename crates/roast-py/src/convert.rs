//! Python objects to [`Value`] and back. Whatever a user hands over becomes a
//! value: numpy scalars and arrays through `item` and `tolist`, anything
//! unknown as its text.

use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString, PyTuple,
};
use roast_model::{UtcNs, Value};

/// Deeper nesting is a reference cycle or not data.
const MAX_DEPTH: usize = 64;

/// A Python object as a value.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    at_depth(object, 0)
}

fn at_depth(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyRecursionError::new_err(
            "the value is nested more than 64 levels deep; does it contain itself?",
        ));
    }
    if object.is_none() {
        return Ok(Value::None);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(match object.extract::<i64>() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::BigInt(object.str()?.to_string()),
        });
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Str(text.to_string_lossy().into_owned()));
    }
    if let Some(value) = sequence(object, depth)? {
        return Ok(value);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        return Ok(Value::Map(
            mapping
                .items()?
                .iter()
                .map(|pair| {
                    let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
                    Ok((at_depth(&key, depth + 1)?, at_depth(&value, depth + 1)?))
                })
                .collect::<PyResult<_>>()?,
        ));
    }
    if let Some(moment) = aware_time(object)? {
        return Ok(Value::Time(moment));
    }
    for method in ["item", "tolist"] {
        if is_numpy(object)
            && let Ok(plain) = object.call_method0(method)
            && !is_numpy(&plain)
        {
            return at_depth(&plain, depth + 1);
        }
    }
    Ok(Value::Str(object.str()?.to_string_lossy().into_owned()))
}

fn sequence(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Value>> {
    let items = || -> PyResult<Vec<Value>> {
        object.try_iter()?.map(|item| at_depth(&item?, depth + 1)).collect()
    };
    Ok(if object.is_instance_of::<PyList>() {
        Some(Value::List(items()?))
    } else if object.is_instance_of::<PyTuple>() {
        Some(Value::Tuple(items()?))
    } else if object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
        let mut members = items()?;
        members.sort_by_cached_key(|member| member.to_json().to_string());
        Some(Value::Set(members))
    } else {
        None
    })
}

fn is_numpy(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().module().is_ok_and(|module| module.to_string_lossy().starts_with("numpy"))
}

/// An aware `datetime`; a naive one has no place in time and stays text.
fn aware_time(object: &Bound<'_, PyAny>) -> PyResult<Option<UtcNs>> {
    if !object.hasattr("tzinfo")? || !object.hasattr("timestamp")? {
        return Ok(None);
    }
    if object.getattr("tzinfo")?.is_none() {
        return Ok(None);
    }
    let epoch = epoch(object.py())?;
    let since = object.sub(epoch)?;
    let days: i64 = since.getattr("days")?.extract()?;
    let seconds: i64 = since.getattr("seconds")?.extract()?;
    let micros: i64 = since.getattr("microseconds")?.extract()?;
    Ok(Some(UtcNs(((days * 86_400 + seconds) * 1_000_000 + micros) * 1_000)))
}

fn epoch(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let module = py.import("datetime")?;
    let utc = module.getattr("timezone")?.getattr("utc")?;
    module.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, utc))
}

/// A moment as an aware `datetime` in UTC; Python keeps microseconds.
pub(crate) fn to_datetime<'py>(py: Python<'py>, moment: UtcNs) -> PyResult<Bound<'py, PyAny>> {
    let delta =
        py.import("datetime")?.getattr("timedelta")?.call1((0, 0, moment.0.div_euclid(1_000)))?;
    epoch(py)?.add(delta)
}

/// A value as a Python object.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::None => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::BigInt(digits) => py.get_type::<PyInt>().call1((digits.as_str(),))?,
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
        Value::Time(moment) => to_datetime(py, *moment)?,
        Value::List(items) => PyList::new(py, objects(py, items)?)?.into_any(),
        Value::Tuple(items) => PyTuple::new(py, objects(py, items)?)?.into_any(),
        Value::Set(items) => PySet::new(py, objects(py, items)?)?.into_any(),
        Value::Map(pairs) => {
            let dict = PyDict::new(py);
            for (key, value) in pairs {
                dict.set_item(to_python(py, key)?, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

fn objects<'py>(py: Python<'py>, items: &[Value]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.iter().map(|item| to_python(py, item)).collect()
}
