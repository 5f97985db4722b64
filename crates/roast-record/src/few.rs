//! A few numbers, each once. Mostly there is one, and then nothing is allocated:
//! there may be one of these for each of very many files.

use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Few {
    /// The smallest.
    first: Option<u32>,
    more: BTreeSet<u32>,
}

impl Few {
    pub(crate) fn one(number: u32) -> Self {
        Self { first: Some(number), more: BTreeSet::new() }
    }

    pub(crate) fn insert(&mut self, number: u32) {
        match self.first {
            None => self.first = Some(number),
            Some(first) if number == first => {}
            Some(first) => {
                self.first = Some(first.min(number));
                self.more.insert(first.max(number));
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.more.len() + usize::from(self.first.is_some())
    }

    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.first.into_iter().chain(self.more.iter().copied())
    }
}

impl Extend<u32> for Few {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|number| self.insert(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_however_they_came() {
        let of = |numbers: &[u32]| {
            let mut few = Few::default();
            few.extend(numbers.iter().copied());
            few
        };
        assert_eq!((of(&[]).len(), of(&[7, 7]), of(&[7]).len()), (0, Few::one(7), 1));
        for numbers in [[1, 2, 3, 2], [3, 1, 1, 2], [2, 3, 2, 1]] {
            assert_eq!(of(&numbers), of(&[1, 2, 3]));
            assert_eq!(of(&numbers).iter().collect::<Vec<_>>(), [1, 2, 3]);
        }
    }
}
