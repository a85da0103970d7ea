//! Shadow memory: one record for each granule of an object, allocated where it is accessed.

use super::Record;

/// Records of a page.
const PAGE: usize = 512;

/// Records of an object's granules. A page without an access takes no memory, so that large objects
/// of which an execution accesses a part stay cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct ShadowMemory {
    pages: Vec<Option<Box<[Record; PAGE]>>>,
}

impl ShadowMemory {
    /// Creates the shadow of an object with this many granules, none of which was accessed.
    pub(super) fn new(granules: usize) -> ShadowMemory {
        ShadowMemory { pages: vec![None; granules.div_ceil(PAGE)] }
    }

    /// Returns true if the object has no records.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the record of a granule.
    ///
    /// # Panics
    /// Panics if the object does not have the granule.
    #[inline]
    pub(super) fn record(&self, granule: usize) -> Record {
        self.pages[granule / PAGE].as_ref().map_or_else(Record::default, |page| page[granule % PAGE])
    }

    /// Returns the record of a granule, to change it.
    ///
    /// # Panics
    /// As [`ShadowMemory::record`].
    #[inline]
    pub(super) fn record_mut(&mut self, granule: usize) -> &mut Record {
        &mut self.pages[granule / PAGE].get_or_insert_with(|| Box::new([Record::default(); PAGE]))[granule % PAGE]
    }

    /// Returns the accessed granules with their records, in order.
    pub(super) fn accessed(&self) -> impl Iterator<Item = (usize, &Record)> {
        let pages = self.pages.iter().enumerate().filter_map(|(at, page)| Some((at * PAGE, page.as_deref()?)));
        pages.flat_map(|(first, page)| (first..).zip(page)).filter(|(_, record)| record.is_accessed())
    }

    /// Returns the size of the records in bytes once every granule was accessed.
    pub(super) fn full_bytes(&self) -> u64 {
        (self.pages.len() * size_of::<[Record; PAGE]>()) as u64
    }
}
