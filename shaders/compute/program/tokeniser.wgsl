// A tokeniser similar to JSON's: a state machine over bytes with a stack of brackets.

@group(0) @binding(0) var<storage, read> text: array<array<u32, 16>>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var stack = 0u;
    var depth = 0u;
    var tokens = 0u;
    var errors = 0u;
    var in_string = false;
    var escaped = false;
    var in_number = false;
    // Bytes are mapped to an alphabet of significant characters.
    var alphabet = array<u32, 16>(0x7bu, 0x7du, 0x5bu, 0x5du, 0x22u, 0x5cu, 0x2cu, 0x3au, 0x20u, 0x30u, 0x31u, 0x39u, 0x2du, 0x61u, 0x74u, 0x0au);
    for (var n = 0u; n < 128u; n++) {
        let byte = alphabet[(text[id.x][n / 8u] >> (4u * (n & 7u))) & 15u];
        if (in_string) {
            if (escaped) { escaped = false; continue; }
            if (byte == 0x5cu) { escaped = true; }
            if (byte == 0x22u) { in_string = false; tokens++; }
            continue;
        }
        let digit = (byte >= 0x30u && byte <= 0x39u) || byte == 0x2du;
        if (in_number && !digit) { in_number = false; tokens++; }
        switch (byte) {
            case 0x7bu, 0x5bu: {
                if (depth < 32u) {
                    stack = (stack << 1u) | select(0u, 1u, byte == 0x5bu);
                    depth++;
                } else {
                    errors++;
                }
            }
            case 0x7du, 0x5du: {
                let square = byte == 0x5du;
                if (depth == 0u || ((stack & 1u) == 1u) != square) { errors++; continue; }
                stack = stack >> 1u;
                depth--;
                tokens++;
            }
            case 0x22u: { in_string = true; }
            case 0x2cu, 0x3au: { tokens++; }
            case 0x20u, 0x0au: {}
            default: {
                if (digit) { in_number = true; } else { errors++; }
            }
        }
    }
    out[id.x] = vec4<u32>(tokens, errors, depth, stack | select(0u, 0x80000000u, in_string));
}
