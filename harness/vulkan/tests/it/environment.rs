//! Machines without a loader, a driver or a layer, and a driver with every extension. The loader
//! reads its environment once, so each of these tests runs again in a process of its own.

use std::process::Command;

use assay_testkit::required_variable;
use assay_vulkan::{BufferSpec, Device, DeviceOptions, Dispatch, Error, Instance, PipelineDesc};

use crate::shader;

/// Runs `body`, the whole body of the test `name` (with its module), in a process with these
/// variables.
pub(crate) fn with_environment(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    const CHILD: &str = "ASSAY_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_broken_loader_is_an_error_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libvulkan.so.1"), "not a library").unwrap();
    let folder = folder.path().to_str().unwrap();
    with_environment("environment::a_broken_loader_is_an_error_with_a_remedy", &[("LD_LIBRARY_PATH", folder)], || {
        let error = Instance::new(false).err().unwrap();
        assert!(matches!(error, Error::NoLoader { .. }) && error.to_string().contains("libvulkan1"), "{error}");
    });
}

#[test]
fn a_machine_without_a_driver_gets_an_error_with_a_remedy() {
    let none = [("VK_DRIVER_FILES", "/nonexistent.json"), ("VK_ICD_FILENAMES", "/nonexistent.json")];
    with_environment("environment::a_machine_without_a_driver_gets_an_error_with_a_remedy", &none, || {
        let error = Instance::new(false).and_then(|i| i.devices()).err().unwrap();
        assert!(matches!(error, Error::NoDevice) && error.to_string().contains("mesa-vulkan-drivers"), "{error}");
    });
}

#[test]
fn a_missing_validation_layer_is_an_error_with_a_remedy() {
    with_environment(
        "environment::a_missing_validation_layer_is_an_error_with_a_remedy",
        &[("VK_LAYER_PATH", "/nonexistent")],
        || {
            let error = Instance::new(true).err().unwrap();
            assert!(
                matches!(error, Error::NoValidationLayer) && error.to_string().contains("scripts/setup"),
                "{error}"
            );
        },
    );
}

/// The mock driver advertises every extension and executes nothing. The enabled features and the
/// submissions must satisfy the validation layer there as well.
#[test]
fn a_driver_with_every_extension_draws_no_validation_message() {
    let Some(mock) = required_variable("ASSAY_MOCK_ICD") else { return };
    let only = [("VK_DRIVER_FILES", &*mock), ("VK_ICD_FILENAMES", &*mock)];
    with_environment("environment::a_driver_with_every_extension_draws_no_validation_message", &only, || {
        let instance = Instance::new(true).unwrap();
        let physical = instance.select(None).unwrap();
        assert!(physical.capabilities().has_extension("VK_QCOM_tile_shading"), "{}", physical.identity());
        // The property is queried, although this driver does not write it.
        assert!(physical.capabilities().properties.contains_key("maxTileShadingRateX"));
        let device = Device::open(&physical, &DeviceOptions::default()).unwrap();
        let on = device.capabilities();
        assert!(on.has_feature("shaderInt64") && on.has_extension("VK_EXT_shader_subgroup_ballot"));
        let code = shader::add();
        let pipeline = device.pipeline(&PipelineDesc { push_constants: 4, ..PipelineDesc::new(&code, 2) }).unwrap();
        let mut slot = device.dispatch_slot(&[BufferSpec::input(256), BufferSpec::output(256)]).unwrap();
        slot.submit(&pipeline, &Dispatch::linear(1).with_push_constants(&[0; 4])).unwrap();
        slot.wait(std::time::Duration::from_secs(10)).unwrap();
        drop((slot, pipeline, device, physical));
        let mut messages = instance.take_validation_messages();
        // The mock driver does not fill in this limit, so every allocation exceeds it.
        messages.retain(|m| m.id != "UNASSIGNED-vkAllocateMemory-maxMemoryAllocationSize");
        assert!(messages.is_empty(), "{messages:#?}");
    });
}
