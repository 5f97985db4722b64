//! How much memory there is to use.

use std::fs;

/// Bytes that can be used without pushing others out: what the machine has free,
/// or what is left of this process's share of it. Nobody knows where there is no
/// `/proc`.
pub(crate) fn available_bytes() -> Option<f64> {
    let machine = free_of_machine(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let number = |file: &str| {
        fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<f64>().ok()
    };
    let share = number("memory.max").zip(number("memory.current")).map(|(max, used)| max - used);
    Some(share.map_or(machine, |share| share.min(machine)))
}

fn free_of_machine(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_words_are_understood() {
        let text = "MemTotal:       24681720 kB\nMemAvailable:   22945032 kB\n";
        assert_eq!(free_of_machine(text), Some(22_945_032.0 * 1024.0));
        assert_eq!(free_of_machine("MemTotal: 1 kB\n"), None);
    }
}
