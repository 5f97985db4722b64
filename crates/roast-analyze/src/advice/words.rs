//! Numbers as the sentences of the advice say them.

/// A share of 1 in hundredths: `78 %`, `4.2 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent >= 9.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// A time, as roughly as people would say it: `8.2 s`, `41 min`, `3.5 h`.
pub(super) fn duration(secs: f64) -> String {
    match secs {
        secs if secs < 0.0995 => format!("{:.0} ms", secs * 1e3),
        secs if secs < 0.9995 => format!("{secs:.2} s"),
        secs if secs < 19.95 => format!("{secs:.1} s"),
        secs if secs < 119.5 => format!("{secs:.0} s"),
        secs if secs < 7170.0 => format!("{:.0} min", secs / 60.0),
        secs => format!("{:.1} h", secs / 3600.0),
    }
}

/// Seconds of cores.
pub(super) fn core_seconds(secs: f64) -> String {
    let number = if secs < 99.95 { format!("{secs:.1}") } else { grouped(secs, ',') };
    format!("{number} core-seconds")
}

/// A whole number in groups of three: `2,000`.
pub(super) fn count(number: f64) -> String {
    grouped(number, ',')
}

/// A whole number as Python reads it: `100_000`.
pub(super) fn python_int(number: f64) -> String {
    grouped(number, '_')
}

fn grouped(number: f64, mark: char) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(mark);
        }
        text.push(digit);
    }
    text
}

/// A number of bytes, decimal.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e3 => format!("{bytes:.0} B"),
        bytes if bytes < 1e6 => format!("{:.1} kB", bytes / 1e3),
        bytes if bytes < 1e9 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

/// Names as a Python list.
pub(super) fn python_list(names: &[&str]) -> String {
    // JSON writes text the way Python reads it.
    let quoted: Vec<String> =
        names.iter().map(|name| serde_json::Value::from(*name).to_string()).collect();
    let line = format!("[{}]", quoted.join(", "));
    if line.len() <= 80 {
        return line;
    }
    format!("[\n{}]", quoted.iter().map(|name| format!("    {name},\n")).collect::<String>())
}

/// A name of the user's, cut to what a sentence can hold.
pub(super) fn name(name: &str) -> String {
    const LONGEST: usize = 80;
    let letters = name.chars().count();
    if letters <= LONGEST {
        return name.to_owned();
    }
    // The end of a path tells more than its beginning.
    format!("…{}", name.chars().skip(letters - LONGEST).collect::<String>())
}

/// `one`, or `many` with the number in front.
pub(super) fn several(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", count(number as f64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_say_it() {
        assert_eq!(
            [percent(0.784), percent(0.042), percent(0.0), percent(0.0996)],
            ["78 %", "4.2 %", "0 %", "10 %"]
        );
        let times = [0.0123, 0.5, 8.24, 45.4, 119.6, 2460.0, 7200.0].map(duration);
        assert_eq!(times, ["12 ms", "0.50 s", "8.2 s", "45 s", "2 min", "41 min", "2.0 h"]);
        assert_eq!(core_seconds(1234.5), "1,234 core-seconds");
        assert_eq!((count(2000.0), python_int(100_000.0)), ("2,000".into(), "100_000".into()));
        assert_eq!([bytes(12.0), bytes(2.5e9)], ["12 B", "2.5 GB"]);
        assert_eq!(python_list(&["Muon_pt", "it's \"x\"\n"]), r#"["Muon_pt", "it's \"x\"\n"]"#);
        assert_eq!(name(&"x".repeat(100)).chars().count(), 81);
    }
}
