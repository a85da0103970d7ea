// Gravitational forces between 32 bodies, and one time step.

struct Body {
    at: vec3<f32>,
    mass: f32,
}

@group(0) @binding(0) var<storage, read> bodies: array<Body>;
@group(0) @binding(1) var<storage, read_write> speeds: array<vec4<f32>>;

const COUNT: u32 = 32u;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let own = bodies[id.x];
    var force = vec3<f32>(0.0);
    for (var k = 0u; k < COUNT; k++) {
        let d = bodies[k].at - own.at;
        let r2 = dot(d, d) + 0.01;
        let r = inverseSqrt(r2);
        force += d * (bodies[k].mass * r * r * r);
    }
    speeds[id.x] = vec4<f32>(speeds[id.x].xyz + force * 0.01, 0.0);
}
