// Macros that ncnn defines for its shaders, in single precision and with bytes packed in words. Shaders
// of ncnn and of programs built on it are not complete without them.

// Types of storage (s), of local memory (l) and of arithmetic (a).
#define sfp float
#define sfpvec2 vec2
#define sfpvec4 vec4
#define sfpmat4 mat4
#define lfp float
#define lfpvec4 vec4
#define afp float
#define afpvec2 vec2
#define afpvec4 vec4
#define afpmat4 mat4
#define sint8 int
#define sint8vec4 int
#define aint8 int
#define aint8vec4 ivec4
#define sint16 int
#define sint16vec4 ivec4
#define lint16 int
#define lint16vec4 ivec4
#define aint16 int
#define aint16vec4 ivec4

// Conversions.
#define lfp2afp(v) v
#define afp2lfp(v) v
#define lfp2afpvec4(v) v
#define afp2lfpvec4(v) v
#define sfp2afpmat4(v) v
#define afp2sfpmat4(v) v
#define lint162aint16(v) v
#define lint162aint16vec4(v) v
#define unpackInt4x8(v) ((ivec4(v) << ivec4(24, 16, 8, 0)) >> 24)
#define packInt4x8(v) int(((v).x & 255) | ((v).y & 255) << 8 | ((v).z & 255) << 16 | (v).w << 24)
#define unpackInt2x16(v) ((ivec2(v) << ivec2(16, 0)) >> 16)
#define packInt2x16(v) int(((v).x & 65535) | (v).y << 16)
#define float2int8(v) int(clamp(float(v) + (float(v) < 0.0 ? -0.5 : 0.5), -127.0, 127.0))
#define float2int8vec4(v) ivec4(float2int8((v).x), float2int8((v).y), float2int8((v).z), float2int8((v).w))

// Loads, stores and copies of 1, 2 or 4 components, and loads for local memory (sm).
#define buffer_ld1(buf, i) buf[i]
#define buffer_ld2(buf, i) buf[i]
#define buffer_ld4(buf, i) buf[i]
#define buffer_sm1(buf, i) buf[i]
#define buffer_sm4(buf, i) buf[i]
#define buffer_st1(buf, i, v) { buf[i] = v; }
#define buffer_st2(buf, i, v) { buf[i] = v; }
#define buffer_st4(buf, i, v) { buf[i] = v; }
#define buffer_cp1(buf, i, from, j) { buf[i] = from[j]; }
#define buffer_cp2(buf, i, from, j) { buf[i] = from[j]; }
#define buffer_cp4(buf, i, from, j) { buf[i] = from[j]; }
#define buffer_cp1to4(buf, i, from, j) { buf[i] = vec4(from[j.x], from[j.y], from[j.z], from[j.w]); }
#define buffer_cp4to1(buf, i, from, j) { buf[i.x] = from[j].x; buf[i.y] = from[j].y; buf[i.z] = from[j].z; buf[i.w] = from[j].w; }
#define i8buffer_ld1(buf, i) bitfieldExtract(buf[(i) / 4], int((i) % 4) * 8, 8)
#define i8buffer_ld4(buf, i) unpackInt4x8(buf[i])
#define i8buffer_sm4(buf, i) buf[i]
#define i8buffer_st1(buf, i, v) { int _bit = int((i) % 4) * 8; atomicAnd(buf[(i) / 4], ~(255 << _bit)); atomicOr(buf[(i) / 4], (int(v) & 255) << _bit); }
#define i8buffer_st4(buf, i, v) { buf[i] = packInt4x8(v); }
#define i8buffer_cp1(buf, i, from, j) { i8buffer_st1(buf, i, i8buffer_ld1(from, j)) }
#define i8buffer_cp4(buf, i, from, j) { buf[i] = from[j]; }
#define i8buffer_cp1to4(buf, i, from, j) { ivec4 _all = ivec4(i8buffer_ld1(from, j.x), i8buffer_ld1(from, j.y), i8buffer_ld1(from, j.z), i8buffer_ld1(from, j.w)); buf[i] = packInt4x8(_all); }
#define i8buffer_cp4to1(buf, i, from, j) { ivec4 _all = i8buffer_ld4(from, j); i8buffer_st1(buf, i.x, _all.x) i8buffer_st1(buf, i.y, _all.y) i8buffer_st1(buf, i.z, _all.z) i8buffer_st1(buf, i.w, _all.w) }
#define i16buffer_ld1(buf, i) buf[i]
#define i16buffer_ld2(buf, i) ivec2(buf[i], buf[(i) + 1])
#define i16buffer_ld4(buf, i) buf[i]
#define i16buffer_sm4(buf, i) buf[i]
#define i16buffer_st1(buf, i, v) { buf[i] = v; }
#define i16buffer_st2(buf, i, v) { buf[i] = (v).x; buf[(i) + 1] = (v).y; }
#define i16buffer_st4(buf, i, v) { buf[i] = v; }

// A parameter of the shape: a specialisation constant, or where that is 0 a push constant.
#define psc(x) (x == 0 ? p.x : x)
