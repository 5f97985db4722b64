//! Which of very many things came before, in nine bytes for each. Things are
//! numbered; what they are is looked at only where their hashes agree.

use hashbrown::HashTable;

/// Numbers of things that differ from each other.
#[derive(Clone, Debug, Default)]
pub struct FirstSeen {
    known: HashTable<Known>,
}

/// A thing's number beside a part of its hash: most look-ups end here, and the
/// table grows without looking at the things.
#[derive(Clone, Copy, Debug)]
struct Known {
    tag: u32,
    number: u32,
}

impl Known {
    fn hash(self) -> u64 {
        spread(self.tag)
    }
}

fn tag(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

fn spread(tag: u32) -> u64 {
    u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl FirstSeen {
    /// Makes room for so many more.
    pub fn reserve(&mut self, things: usize) {
        self.known.reserve(things, |known| known.hash());
    }

    /// The number of the same thing, if it came before.
    #[inline]
    pub fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        let tag = tag(hash);
        let is_it = |known: &Known| known.tag == tag && is_same(known.number);
        self.known.find(spread(tag), is_it).map(|known| known.number)
    }

    /// The number of the same thing, or else `fresh`, which is then its number.
    #[inline]
    pub fn first(&mut self, hash: u64, fresh: u32, is_same: impl Fn(u32) -> bool) -> u32 {
        let new = Known { tag: tag(hash), number: fresh };
        let is_it = |known: &Known| known.tag == new.tag && is_same(known.number);
        self.known.entry(new.hash(), is_it, |known| known.hash()).or_insert(new).get().number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_one_hash_are_told_apart() {
        let things = ["a", "b", "a", "c", "b"];
        for hash in [|_: &str| 7, |thing: &str| u64::from(thing.as_bytes()[0])] {
            let mut seen = FirstSeen::default();
            let firsts: Vec<u32> = (0..)
                .zip(things)
                .map(|(number, thing)| {
                    seen.first(hash(thing), number, |other| things[other as usize] == thing)
                })
                .collect();
            assert_eq!(firsts, [0, 1, 0, 3, 1]);
        }
    }
}
