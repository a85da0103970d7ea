#version 450
// Multiplies the first `count` elements by a factor.

layout(local_size_x = 64) in;
layout(push_constant) uniform Parameters { uint count; float factor; };
layout(std430, binding = 0) buffer Data { float data[]; };

void main() {
    if (gl_GlobalInvocationID.x < count) {
        data[gl_GlobalInvocationID.x] *= factor * SCALE;
    }
}
