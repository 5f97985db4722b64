//! The tree in which coffea adds up outputs: so many of one level make one of the
//! next, as soon as all of them are there.

/// An output that is complete and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reduction {
    /// 0 adds up the outputs of chunks.
    pub(crate) level: u32,
    pub(crate) number: u64,
    pub(crate) inputs: u32,
}

/// Which outputs of each level are still missing.
#[derive(Debug)]
pub(crate) struct Tree {
    together: u64,
    levels: Vec<Vec<Group>>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    inputs: u32,
    missing: u32,
    ready: i64,
}

impl Tree {
    pub(crate) fn new(outputs: u64, together: u32) -> Self {
        let together = u64::from(together.max(2));
        let mut levels = Vec::new();
        let mut left = outputs;
        while left > 1 {
            let groups = left.div_ceil(together);
            let level = (0..groups)
                .map(|group| {
                    let inputs = together.min(left - group * together) as u32;
                    Group { inputs, missing: inputs, ready: i64::MIN }
                })
                .collect();
            levels.push(level);
            left = groups;
        }
        Self { together, levels }
    }

    /// An output of a level below is there from that moment on. Says what can be
    /// added up now, and since when.
    pub(crate) fn arrived(
        &mut self,
        level: u32,
        output: u64,
        moment: i64,
    ) -> Option<(i64, Reduction)> {
        let number = output / self.together;
        let group = self.levels.get_mut(level as usize)?.get_mut(number as usize)?;
        group.missing = group.missing.saturating_sub(1);
        group.ready = group.ready.max(moment);
        let done = Reduction { level, number, inputs: group.inputs };
        (group.missing == 0).then_some((group.ready, done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_added_up_once() {
        for outputs in [1, 2, 20, 21, 400, 401, 1000] {
            let mut tree = Tree::new(outputs, 20);
            let mut there: Vec<(u32, u64)> = (0..outputs).map(|output| (0, output)).collect();
            let mut added = 0;
            while let Some((level, output)) = there.pop() {
                if let Some((_, done)) = tree.arrived(level, output, 0) {
                    added += u64::from(done.inputs) - 1;
                    there.push((done.level + 1, done.number));
                }
            }
            assert_eq!(added, outputs - 1, "{outputs}");
        }
    }
}
