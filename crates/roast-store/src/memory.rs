//! How much memory this process can still take, so that what does not fit is
//! refused in words. Past the limit the system kills a process without one.

/// Something needs more memory than there is.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("about {:.1} GB of memory are needed, and {:.1} GB are free", gigabytes(*needed_bytes), gigabytes(*available_bytes))]
pub struct Shortage {
    /// About what it takes.
    pub needed_bytes: f64,
    /// What there is.
    pub available_bytes: f64,
}

fn gigabytes(bytes: f64) -> f64 {
    bytes / 1e9
}

/// Refuses what needs more memory than there is. Where nobody knows how much
/// that is, one has to try.
pub fn check_memory(needed_bytes: f64) -> Result<(), Shortage> {
    match available_bytes() {
        Some(available_bytes) if needed_bytes > available_bytes => {
            Err(Shortage { needed_bytes, available_bytes })
        }
        _ => Ok(()),
    }
}

/// Bytes that can be used without pushing others out: what the machine has free,
/// what is left of this process's share of it, or of its address space.
#[cfg(target_os = "linux")]
fn available_bytes() -> Option<f64> {
    use linux::{address_space, control_groups, machine};
    [machine(), control_groups(), address_space()].into_iter().flatten().reduce(f64::min)
}

/// Nobody knows where there is no `/proc`.
#[cfg(not(target_os = "linux"))]
fn available_bytes() -> Option<f64> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;

    use procfs::process::{LimitValue, Process};
    use procfs::{Current, Meminfo};

    /// Names of a control group's files, in the two versions that there are.
    struct Names {
        mount: &'static str,
        limit: &'static str,
        usage: &'static str,
        cache: &'static str,
    }

    const VERSION_1: Names = Names {
        mount: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        usage: "memory.usage_in_bytes",
        cache: "total_inactive_file ",
    };
    const VERSION_2: Names = Names {
        mount: "/sys/fs/cgroup",
        limit: "memory.max",
        usage: "memory.current",
        cache: "inactive_file ",
    };

    /// What the machine has free.
    pub(super) fn machine() -> Option<f64> {
        Meminfo::current().ok()?.mem_available.map(|bytes| bytes as f64)
    }

    /// What is left in the control groups around this process, as containers and
    /// batch systems have them.
    pub(super) fn control_groups() -> Option<f64> {
        let groups = Process::myself().ok()?.cgroups().ok()?;
        let left = groups.0.iter().filter_map(|group| {
            let names = match group.hierarchy {
                0 => VERSION_2,
                _ if group.controllers.iter().any(|name| name == "memory") => VERSION_1,
                _ => return None,
            };
            // A container may see only its own group, at the root.
            let path = Path::new(names.mount).join(group.pathname.trim_start_matches('/'));
            let around = path.ancestors().take_while(|path| path.starts_with(names.mount));
            around.filter_map(|path| left_in(path, &names)).reduce(f64::min)
        });
        left.reduce(f64::min)
    }

    fn left_in(group: &Path, names: &Names) -> Option<f64> {
        let text = |file: &str| fs::read_to_string(group.join(file)).ok();
        let number = |file: &str| text(file)?.trim().parse::<f64>().ok();
        let cache = text("memory.stat").and_then(|stat| {
            stat.lines().find_map(|line| line.strip_prefix(names.cache))?.trim().parse().ok()
        });
        // Cached files give way.
        let used = number(names.usage)? - cache.unwrap_or(0.0);
        Some((number(names.limit)? - used).max(0.0))
    }

    /// What is left of a limit on the address space (`ulimit -v`).
    pub(super) fn address_space() -> Option<f64> {
        let process = Process::myself().ok()?;
        match process.limits().ok()?.max_address_space.soft_limit {
            LimitValue::Unlimited => None,
            LimitValue::Value(limit) => {
                let used = process.statm().ok()?.size * procfs::page_size();
                Some(limit.saturating_sub(used) as f64)
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_left_of_a_group_leaves_out_cached_files() {
            let group = tempfile::tempdir().unwrap();
            let write = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
            write("memory.current", "700\n");
            assert_eq!(left_in(group.path(), &VERSION_2), None);
            write("memory.max", "max\n");
            assert_eq!(left_in(group.path(), &VERSION_2), None);
            write("memory.max", "1000\n");
            assert_eq!(left_in(group.path(), &VERSION_2), Some(300.0));
            write("memory.stat", "anon 500\ninactive_file 200\nactive_file 0\n");
            assert_eq!(left_in(group.path(), &VERSION_2), Some(500.0));
        }

        #[test]
        fn this_machine_has_memory() {
            assert!(machine().is_some_and(|bytes| bytes > 1e6));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_its_size() {
        check_memory(1.0).unwrap();
        if cfg!(target_os = "linux") {
            let error = check_memory(1e18).unwrap_err();
            assert!(error.to_string().starts_with("about 1000000000.0 GB of memory are needed"));
        }
    }
}
