//! Choice of some workgroups of a dispatch.

use assay_case::stable_hash;

/// Returns the number of workgroups or invocations with these sides.
pub(crate) fn product(sides: [u32; 3]) -> u64 {
    sides.iter().fold(1, |n: u64, side| n.saturating_mul(u64::from(*side)))
}

/// Returns the indices of the chosen workgroups; `None` if that would be all of them.
pub(crate) fn choose_workgroups(total: u64, local: u64, invocations: u64, seed: u64) -> Option<Vec<u64>> {
    let wanted = invocations.div_ceil(local.max(1)).max(1);
    if wanted >= total {
        return None;
    }
    // One workgroup in each interval of equal length: even coverage without a period.
    let end = |i: u64| (u128::from(i) * u128::from(total) / u128::from(wanted)) as u64;
    let number = |i: u64| {
        let (from, to) = (end(i), end(i + 1));
        match i {
            0 => 0,
            _ if i + 1 == wanted => total - 1,
            _ => from + stable_hash(&(seed ^ i).to_le_bytes()) % (to - from),
        }
    };
    Some((0..wanted).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workgroup_subset_is_spread_evenly_and_has_both_ends() {
        let sample = choose_workgroups(1 << 40, 64, 640, 1).unwrap();
        assert_eq!((sample.len(), sample[0], sample[9]), (10, 0, (1 << 40) - 1));
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]), "{sample:?}");
        assert!(sample.windows(2).all(|pair| pair[1] - pair[0] < 1 << 38), "{sample:?}");
        assert_ne!(sample, choose_workgroups(1 << 40, 64, 640, 2).unwrap());
        assert_eq!(choose_workgroups(10, 64, 640, 1), None);
        assert_eq!(choose_workgroups(10, 64, 1, 1), Some(vec![0]));
        assert_eq!(choose_workgroups(3, 64, 128, 1), Some(vec![0, 2]));
    }
}
