//! Real dispatches on the software drivers, under validation if the layer is present.
//!
//! `scripts/setup --tests` provides the drivers: it puts lavapipe and SwiftShader before the
//! loader. Missing drivers are reported on stderr, and are a failure with
//! `ASSAY_TEST_ALL_DRIVERS=1` (as `scripts/test` sets it).

use std::time::Duration;

use assay_testkit::{on_software_drivers, skip_missing};
use assay_vulkan::{
    Bindings, BufferSpec, Device, DeviceOptions, Dispatch, Error, Instance, PhysicalDevice, PipelineDesc, Severity,
    SpecConstant, Staging,
};

use crate::shader;

pub(crate) const LONG: Duration = Duration::from_secs(120);

/// Runs `test` on every software driver, and checks that the validation layer reported nothing.
pub(crate) fn on_each_driver(test: impl Fn(&PhysicalDevice)) {
    let instance = match Instance::new(true) {
        Err(error @ Error::NoValidationLayer) => {
            skip_missing(&format!("validation: {error}"));
            Instance::new(false)
        }
        other => other,
    };
    let instance = match instance {
        Ok(instance) => instance,
        Err(error) => return skip_missing(&error.to_string()),
    };
    on_software_drivers(
        instance.devices(),
        |device| &device.identity().name,
        |device| {
            test(device);
            let messages = instance.take_validation_messages();
            assert!(messages.is_empty(), "{}: {messages:#?}", device.identity());
        },
    );
}

fn open(physical: &PhysicalDevice) -> Device {
    Device::open(physical, &DeviceOptions::default()).unwrap()
}

fn description(code: &[u32]) -> PipelineDesc<'_> {
    PipelineDesc { push_constants: 4, ..PipelineDesc::new(code, 2) }
}

fn buffers(words: usize) -> [BufferSpec; 2] {
    [BufferSpec::input(words * 4), BufferSpec::output(words * 4)]
}

#[test]
fn a_dispatch_reads_and_writes_mapped_and_staged_buffers() {
    on_each_driver(|physical| {
        for staging in [Staging::Never, Staging::Always] {
            let device = Device::open(physical, &DeviceOptions { staging, ..Default::default() }).unwrap();
            assert_eq!(device.is_staged(), staging == Staging::Always);
            let words = 3 * shader::ROW;
            let pipeline = device.pipeline(&description(&shader::add())).unwrap();
            let mut slot = device.dispatch_slot(&buffers(words)).unwrap();
            for (i, word) in (0..).zip(slot.write::<u32>(0).unwrap()) {
                *word = i;
            }
            for push in [0_u32, 0xffff_fff0] {
                let bytes = push.to_ne_bytes();
                let dispatch = Dispatch { groups: shader::groups(words), push_constants: &bytes, clear: None };
                slot.submit(&pipeline, &dispatch).unwrap();
                let timing = slot.wait(LONG).unwrap();
                assert!(timing.device.is_none_or(|t| t <= timing.wall * 2), "{timing:?}");
                let expected = (0..words as u32).map(|i| i.wrapping_add(1).wrapping_add(push));
                assert!(slot.read::<u32>(1).unwrap().iter().copied().eq(expected));
            }
        }
    });
}

/// The time for compiling does not count for the first dispatch, and what it finds is not changed.
#[test]
fn compiling_changes_no_contents_and_is_done_once() {
    on_each_driver(|physical| {
        for staging in [Staging::Never, Staging::Always] {
            let device = Device::open(physical, &DeviceOptions { staging, ..Default::default() }).unwrap();
            let pipeline = device.pipeline(&description(&shader::add())).unwrap();
            let bytes = shader::LOCAL * 4;
            let mut slot = device.dispatch_slot(&[BufferSpec::input(bytes), BufferSpec::in_out(bytes)]).unwrap();
            slot.write::<u32>(1).unwrap().fill(7);
            slot.compile(&pipeline, &[0; 4], LONG).unwrap();
            assert!(slot.read::<u32>(1).unwrap().iter().all(|word| *word == 7));
            slot.compile(&pipeline, &[0; 4], Duration::ZERO).unwrap();
            let other = device.pipeline(&description(&shader::add())).unwrap();
            assert!(matches!(slot.compile(&other, &[], LONG), Err(Error::Invalid { .. })));
        }
    });
}

#[test]
fn unwritten_bytes_keep_the_clear_value() {
    on_each_driver(|physical| {
        for staging in [Staging::Never, Staging::Always] {
            let device = Device::open(physical, &DeviceOptions { staging, ..Default::default() }).unwrap();
            let pipeline = device.pipeline(&description(&shader::add())).unwrap();
            // 10 bytes more than one workgroup writes: not a whole number of words.
            let bytes = shader::LOCAL * 4 + 10;
            let mut slot = device.dispatch_slot(&[BufferSpec::in_out(bytes), BufferSpec::output(bytes)]).unwrap();
            let written = shader::LOCAL * 4;
            for (clear, left) in [(None, 0), (Some(0xabab_abab), 0xab), (None, 0xab)] {
                let dispatch = Dispatch { clear, ..Dispatch::linear(1).with_push_constants(&[0; 4]) };
                slot.submit(&pipeline, &dispatch).unwrap();
                slot.wait(LONG).unwrap();
                let out = slot.read::<u8>(1).unwrap();
                assert!(out[..written].chunks_exact(4).all(|w| w == [1, 0, 0, 0]));
                assert_eq!(out[written..], [left; 10]);
                assert!(slot.read::<u8>(0).unwrap().iter().all(|&b| b == 0));
            }
        }
    });
}

#[test]
fn floats_go_in_and_out_by_their_bits() {
    on_each_driver(|physical| {
        let device = open(physical);
        let pipeline = device.pipeline(&description(&shader::exp2())).unwrap();
        let mut slot = device.dispatch_slot(&buffers(64)).unwrap();
        for (i, x) in (0_i8..).zip(slot.write::<f32>(0).unwrap()) {
            *x = f32::from(i - 32);
        }
        // Cancels the specialisation constant that the shader adds.
        let push = u32::MAX.to_ne_bytes();
        slot.submit(&pipeline, &Dispatch::linear(1).with_push_constants(&push)).unwrap();
        slot.wait(LONG).unwrap();
        for (i, &y) in (-32..).zip(slot.read::<f32>(1).unwrap()) {
            let exact = 2_f32.powi(i);
            // 3 + 2 * |x| ulp, as the specification allows.
            let bound = f32::EPSILON * exact * (3 + 2 * i.abs()) as f32;
            assert!((y - exact).abs() <= bound, "exp2({i}) = {y}");
        }
    });
}

#[test]
fn specialisation_constants_and_subgroup_sizes_reach_the_pipeline() {
    on_each_driver(|physical| {
        let device = open(physical);
        let code = shader::add();
        let values = [SpecConstant::bits32(0, 41)];
        let size = physical.properties().subgroup.map(|s| s.size);
        let supported = device.capabilities().has_feature("subgroupSizeControl");
        // 64 invocations along x are a multiple of every subgroup size up to 64.
        let full = device.capabilities().has_feature("computeFullSubgroups");
        for (subgroup_size, full_subgroups) in [(None, false), (size, false), (None, full), (size, full)] {
            let wanted = PipelineDesc { specialization: &values, subgroup_size, full_subgroups, ..description(&code) };
            match device.pipeline(&wanted) {
                Ok(pipeline) => {
                    let mut slot = device.dispatch_slot(&buffers(64)).unwrap();
                    slot.submit(&pipeline, &Dispatch::linear(1).with_push_constants(&[1, 0, 0, 0])).unwrap();
                    slot.wait(LONG).unwrap();
                    assert_eq!(slot.read::<u32>(1).unwrap(), [42; 64]);
                }
                Err(error) => {
                    assert!(matches!(error, Error::NotSupported { .. }), "{error}");
                    assert!(subgroup_size.is_some() && (!supported || size == Some(1)), "{error}");
                }
            }
        }
    });
}

#[test]
fn one_slot_is_checked_while_the_other_computes() {
    on_each_driver(|physical| {
        let device = open(physical);
        let pipeline = device.pipeline(&description(&shader::add())).unwrap();
        let words = 1 << 14;
        let mut slots =
            [device.dispatch_slot(&buffers(words)).unwrap(), device.dispatch_slot(&buffers(words)).unwrap()];
        let submit = |slot: &mut assay_vulkan::DispatchSlot, chunk: u32| {
            slot.write::<u32>(0).unwrap().fill(chunk);
            let dispatch = Dispatch { groups: shader::groups(words), push_constants: &[0; 4], clear: Some(0) };
            slot.submit(&pipeline, &dispatch).unwrap();
        };
        submit(&mut slots[0], 0);
        for chunk in 0..10 {
            let [now, next] = &mut slots;
            submit(next, chunk + 1);
            now.wait(LONG).unwrap();
            assert!(now.read::<u32>(1).unwrap().iter().all(|&w| w == chunk + 1));
            slots.swap(0, 1);
        }
        // The last slot is dropped in flight, and the device with it.
    });
}

#[test]
fn threads_share_a_device() {
    on_each_driver(|physical| {
        let device = open(physical);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let device = device.clone();
                scope.spawn(move || {
                    for round in 0..5 {
                        let values = [SpecConstant::bits32(0, thread * 100 + round)];
                        let code = shader::add();
                        let wanted = PipelineDesc { specialization: &values, ..description(&code) };
                        let pipeline = device.pipeline(&wanted).unwrap();
                        let mut slot = device.dispatch_slot(&buffers(64)).unwrap();
                        slot.submit(&pipeline, &Dispatch::linear(1).with_push_constants(&[0; 4])).unwrap();
                        drop(pipeline);
                        slot.wait(LONG).unwrap();
                        assert_eq!(slot.read::<u32>(1).unwrap(), [thread * 100 + round; 64]);
                    }
                });
            }
        });
    });
}

#[test]
fn a_time_limit_passes_and_the_work_can_still_be_waited_for() {
    on_each_driver(|physical| {
        let device = open(physical);
        let pipeline = device.pipeline(&description(&shader::rounds())).unwrap();
        let words = 1 << 14;
        let mut slot = device.dispatch_slot(&buffers(words)).unwrap();
        let rounds = 20_000_u32;
        let push = rounds.to_ne_bytes();
        let dispatch = Dispatch { groups: shader::groups(words), push_constants: &push, clear: None };
        slot.submit(&pipeline, &dispatch).unwrap();
        let error = slot.wait(Duration::from_millis(1)).unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }) && error.is_fatal(), "{error}");
        assert!(slot.in_flight());
        assert!(matches!(slot.read::<u32>(1), Err(Error::InFlight)));
        assert!(matches!(slot.write::<u32>(0), Err(Error::InFlight)));
        assert!(matches!(slot.submit(&pipeline, &dispatch), Err(Error::InFlight)));
        // A slot that is dropped while the device works does not disturb the others.
        let mut given_up = device.dispatch_slot(&buffers(words)).unwrap();
        given_up.submit(&pipeline, &dispatch).unwrap();
        assert!(matches!(given_up.wait(Duration::ZERO), Err(Error::Timeout { .. })));
        drop(given_up);
        slot.wait(LONG).unwrap();
        // The fence of a later submission says that the given-up work is done, too: a driver whose
        // threads still work when the process ends may crash.
        let mut last = device.dispatch_slot(&buffers(words)).unwrap();
        let nothing = 0_u32.to_ne_bytes();
        last.submit(&pipeline, &Dispatch { push_constants: &nothing, ..dispatch }).unwrap();
        last.wait(LONG).unwrap();
        let expected = (0..rounds).fold(0_u32, |x, _| x.wrapping_mul(x).wrapping_add(1));
        assert!(slot.read::<u32>(1).unwrap().iter().all(|&w| w == expected));
    });
}

#[test]
fn arguments_that_cannot_be_are_refused_with_the_reason() {
    on_each_driver(|physical| {
        let device = open(physical);
        let code = shader::add();
        let good = description(&code);
        let refused = |error: Error, part: &str| {
            let fits = matches!(error, Error::Invalid { .. } | Error::NotSupported { .. });
            assert!(fits && error.to_string().contains(part), "expected {part}: {error}");
        };
        let twice = [SpecConstant::bits32(3, 0), SpecConstant::bits64(3, 0)];
        for (wrong, part) in [
            (PipelineDesc { code: &[], ..good }, "not a SPIR-V module"),
            (PipelineDesc { code: &[0x0302_2307, 0, 0, 0, 0, 0], ..good }, "not a SPIR-V module"),
            (PipelineDesc { entry: "ma\0in", ..good }, "NUL"),
            (PipelineDesc { bindings: Bindings::Buffers(u32::MAX), ..good }, "maxPerStageDescriptorStorageBuffers"),
            (PipelineDesc { push_constants: 6, ..good }, "multiple of 4"),
            (PipelineDesc { push_constants: 1 << 20, ..good }, "maxPushConstantsSize"),
            (PipelineDesc { specialization: &twice, ..good }, "given twice"),
            (PipelineDesc { subgroup_size: Some(3), ..good }, "subgroup"),
        ] {
            refused(device.pipeline(&wrong).err().unwrap(), part);
        }
        refused(device.dispatch_slot(&[BufferSpec::input(0)]).err().unwrap(), "no bytes");
        refused(device.dispatch_slot(&[BufferSpec::input(usize::MAX)]).err().unwrap(), "maxStorageBufferRange");

        let pipeline = device.pipeline(&good).unwrap();
        let mut slot = device.dispatch_slot(&buffers(64)).unwrap();
        let push = Dispatch::linear(1).with_push_constants(&[0; 4]);
        assert!(matches!(slot.wait(LONG), Err(Error::NotSubmitted)));
        refused(slot.submit(&pipeline, &Dispatch::linear(1)).unwrap_err(), "push constants");
        refused(slot.submit(&pipeline, &Dispatch { groups: [1, 0, 1], ..push }).unwrap_err(), "computes nothing");
        refused(slot.submit(&pipeline, &Dispatch { groups: [u32::MAX; 3], ..push }).unwrap_err(), "WorkGroupCount");
        refused(slot.read::<u32>(2).unwrap_err(), "no buffer 2");
        refused(slot.write::<u32>(1).unwrap_err(), "output");
        let mut odd = device.dispatch_slot(&[BufferSpec::in_out(7)]).unwrap();
        refused(odd.read::<u32>(0).unwrap_err(), "slice");
        refused(odd.submit(&pipeline, &push).unwrap_err(), "2 buffers");
        let other = open(physical);
        refused(other.dispatch_slot(&buffers(64)).unwrap().submit(&pipeline, &push).unwrap_err(), "another device");

        let ask = |name: &str| DeviceOptions { with: [name.to_owned()].into(), ..Default::default() };
        refused(Device::open(physical, &ask("shaderFlota16")).err().unwrap(), "not a feature");
        refused(Device::open(physical, &ask("tileShading")).err().unwrap(), "tileShading");
        // The slot still works.
        slot.submit(&pipeline, &push).unwrap();
        slot.wait(LONG).unwrap();
    });
}

/// Absent messages in other tests prove something only if the layer reports violations at all.
#[test]
fn the_validation_layer_is_heard() {
    on_each_driver(|physical| {
        let device = open(physical);
        let twice_as_wide = [SpecConstant::bits64(0, 1)];
        let code = shader::add();
        for _ in 0..12 {
            device.pipeline(&PipelineDesc { specialization: &twice_as_wide, ..description(&code) }).unwrap();
        }
        let messages = device.take_validation_messages();
        if Instance::new(true).is_ok() {
            assert!(messages.len() >= 12, "also the twelfth: {}", messages.len());
            for message in &messages {
                assert_eq!(message.severity, Severity::Error);
                assert_eq!(message.id, "VUID-VkSpecializationMapEntry-constantID-00776", "{message}");
            }
        }
        assert!(device.take_validation_messages().is_empty());
    });
}

#[test]
fn the_drivers_are_described_as_they_are() {
    on_each_driver(|physical| {
        let identity = physical.identity();
        let capabilities = physical.capabilities();
        let float = physical.properties().float_controls.expect("both have Vulkan 1.2 or later");
        assert!(capabilities.api_version.at_least(1, 1) && !identity.driver_name.is_empty(), "{identity}");
        assert_eq!(
            capabilities.has_property("shaderRoundingModeRTEFloat32"),
            float.rounding_mode_rte.float32,
            "the two forms of a property agree"
        );
        assert_eq!(identity.is_lavapipe(), identity.name.contains("llvmpipe"));
        let device = open(physical);
        let on = device.capabilities();
        assert!(on.features.is_subset(&capabilities.features) && on.extensions.is_subset(&capabilities.extensions));
        assert!(!on.has_feature("robustBufferAccess") && capabilities.has_feature("robustBufferAccess"));
        if identity.is_lavapipe() {
            for feature in ["shaderFloat64", "shaderInt64", "storageBuffer8BitAccess", "variablePointers"] {
                assert!(on.has_feature(feature), "{feature}");
            }
        }
        let without = DeviceOptions { without: ["shaderInt16".to_owned()].into(), ..Default::default() };
        assert!(!Device::open(physical, &without).unwrap().capabilities().has_feature("shaderInt16"));
        let robust = DeviceOptions { with: ["robustBufferAccess".to_owned()].into(), ..Default::default() };
        assert!(Device::open(physical, &robust).unwrap().capabilities().has_feature("robustBufferAccess"));
    });
}
