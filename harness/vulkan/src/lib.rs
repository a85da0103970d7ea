//! Vulkan devices: negotiation, dispatch and readback.
