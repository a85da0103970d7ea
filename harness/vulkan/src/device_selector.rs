//! Choice of a device by a user's selector.

use crate::error::Error;
use crate::identity::{Identity, Uuid};

/// Returns the index into `devices` of the device that `selector` names.
///
/// A selector is an index, a UUID, `lavapipe`, or part of a device or driver name, regardless of
/// case. A complete device name has precedence over partial matches. Without a selector, the first
/// device of the best type is chosen (discrete, integrated, virtual, CPU, other).
///
/// # Errors
/// [`Error::NoDevice`] for an empty list, [`Error::NoMatch`] and [`Error::Ambiguous`] with the list
/// of devices.
pub fn select(devices: &[&Identity], selector: Option<&str>) -> Result<usize, Error> {
    let Some(selector) = selector.map(str::trim) else {
        let best = devices.iter().enumerate().min_by_key(|(i, d)| (d.device_type, *i));
        return best.map(|(i, _)| i).ok_or(Error::NoDevice);
    };
    if devices.is_empty() {
        return Err(Error::NoDevice);
    }
    let no_match = || Error::NoMatch { selector: selector.to_owned(), present: list(devices.iter().copied()) };
    if selector.is_empty() {
        return Err(no_match());
    }
    if selector.bytes().all(|b| b.is_ascii_digit()) && selector.len() < 10 {
        return devices
            .iter()
            .position(|d| d.index.to_string() == selector.trim_start_matches('0').max("0"))
            .ok_or_else(no_match);
    }
    let wanted = selector.to_lowercase();
    let uuid = Uuid::parse(selector);
    let exact = |d: &Identity| uuid == Some(d.device_uuid) || d.name.to_lowercase() == wanted;
    let partly = |d: &Identity| {
        (wanted == "lavapipe" && d.is_lavapipe())
            || d.name.to_lowercase().contains(&wanted)
            || d.driver_name.to_lowercase().contains(&wanted)
    };
    let matching = |rule: &dyn Fn(&Identity) -> bool| -> Vec<usize> {
        devices.iter().enumerate().filter(|(_, d)| rule(d)).map(|(i, _)| i).collect()
    };
    let mut found = matching(&exact);
    if found.is_empty() {
        found = matching(&partly);
    }
    match found[..] {
        [] => Err(no_match()),
        [one] => Ok(one),
        _ => Err(Error::Ambiguous { selector: selector.to_owned(), matches: list(found.iter().map(|&i| devices[i])) }),
    }
}

fn list<'a>(devices: impl Iterator<Item = &'a Identity>) -> String {
    devices.map(|d| format!("  {d}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::DeviceType;
    use crate::version::ApiVersion;

    fn device(index: usize, name: &str, device_type: DeviceType, driver_id: &str, uuid: u8) -> Identity {
        Identity {
            index,
            name: name.into(),
            device_type,
            vendor_id: 0,
            device_id: 0,
            driver_id: driver_id.into(),
            driver_name: driver_id.to_lowercase(),
            driver_info: String::new(),
            driver_version: "1.0.0".into(),
            driver_version_raw: 0,
            api_version: ApiVersion::NEWEST,
            conformance_version: String::new(),
            device_uuid: Uuid([uuid; 16]),
            driver_uuid: Uuid::default(),
        }
    }

    fn machine() -> Vec<Identity> {
        vec![
            device(0, "llvmpipe (LLVM 15.0.6, 256 bits)", DeviceType::Cpu, "MESA_LLVMPIPE", 0xaa),
            device(1, "Intel(R) Arc", DeviceType::Integrated, "INTEL_OPEN_SOURCE_MESA", 0xbb),
            device(2, "RTX 9000", DeviceType::Discrete, "NVIDIA_PROPRIETARY", 0xcc),
            device(3, "RTX 9000 Super", DeviceType::Discrete, "NVIDIA_PROPRIETARY", 0xdd),
        ]
    }

    fn pick(devices: &[Identity], selector: Option<&str>) -> Result<usize, Error> {
        select(&devices.iter().collect::<Vec<_>>(), selector)
    }

    #[test]
    fn the_default_is_the_best_kind_in_the_loaders_order() {
        let mut devices = machine();
        assert_eq!(pick(&devices, None).unwrap(), 2);
        devices.truncate(2);
        assert_eq!(pick(&devices, None).unwrap(), 1);
        devices.truncate(1);
        assert_eq!(pick(&devices, None).unwrap(), 0);
        assert!(matches!(pick(&[], None), Err(Error::NoDevice)));
        assert!(matches!(pick(&[], Some("0")), Err(Error::NoDevice)));
    }

    #[test]
    fn index_name_uuid_and_lavapipe_select() {
        let devices = machine();
        assert_eq!(pick(&devices, Some("1")).unwrap(), 1);
        assert_eq!(pick(&devices, Some("00")).unwrap(), 0);
        assert_eq!(pick(&devices, Some("lavapipe")).unwrap(), 0);
        assert_eq!(pick(&devices, Some("LLVMPIPE")).unwrap(), 0);
        assert_eq!(pick(&devices, Some("arc")).unwrap(), 1);
        assert_eq!(pick(&devices, Some("super")).unwrap(), 3);
        assert_eq!(pick(&devices, Some("bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb")).unwrap(), 1);
        assert_eq!(pick(&devices, Some("DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD")).unwrap(), 3);
        assert_eq!(pick(&devices, Some("intel_open")).unwrap(), 1, "by the driver's name");
    }

    #[test]
    fn a_complete_name_wins_over_parts() {
        assert_eq!(pick(&machine(), Some("rtx 9000")).unwrap(), 2);
    }

    #[test]
    fn a_selector_without_a_unique_match_lists_the_devices() {
        let devices = machine();
        for selector in ["9", "adreno", "", "999999999999", "-1", "ffffffff-ffff-ffff-ffff-ffffffffffff"] {
            let error = pick(&devices, Some(selector)).unwrap_err();
            assert!(matches!(error, Error::NoMatch { .. }), "{selector}: {error}");
            assert!(error.to_string().contains("Intel(R) Arc"), "{error}");
        }
        let error = pick(&devices, Some("rtx")).unwrap_err();
        assert!(matches!(error, Error::Ambiguous { .. }));
        assert!(error.to_string().contains("9000 Super") && !error.to_string().contains("Arc"), "{error}");
    }
}
