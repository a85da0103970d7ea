// A scalar member uses the fourth word after a vec3.

struct Particle {
    position: vec3<u32>,
    mass: u32,
    velocity: vec3<u32>,
}

@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let mass = particles[i].mass;
    particles[i].position += particles[i].velocity * mass;
    particles[i].mass = mass + 1u;
}
