//! The two inner loops: products of whole numbers, and bits that differ.
//!
//! Both are plain loops over integers. `rten-simd`, which runs the models as well, picks the widest
//! instructions that the processor has when it is called and enters a function compiled for them; the
//! loop is inlined there and becomes what one would write by hand. So there is no `unsafe` here, no
//! loop for each processor, and the same numbers everywhere. `inline(always)` is what makes that work:
//! a loop that stayed a function of its own would keep to the instructions that all processors have.

use rten_simd::{Isa, SimdOp};

/// Hands on the dot product of `query` and each of the `rows` of `values`, which are as long as the
/// query, one behind the other.
///
/// 100,000 rows of 384 take 1.3 ms (AVX-512, one thread); without the choice of instructions, 7.3 ms.
pub(super) fn dot_products(
    query: &[u8],
    values: &[u8],
    rows: impl Iterator<Item = usize>,
    each: impl FnMut(usize, i32),
) {
    DotProducts { query, values, rows, each }.dispatch();
}

/// Hands on how many bits of `query` and each of the `rows` of `signs` differ.
///
/// 360,000 rows of 384 bits take 0.7 ms (AVX-512, one thread).
pub(super) fn distances(
    query: &[u8],
    signs: &[u8],
    rows: impl Iterator<Item = usize>,
    each: impl FnMut(usize, u32),
) {
    Distances { query, signs, rows, each }.dispatch();
}

struct DotProducts<'a, Rows, Each> {
    query: &'a [u8],
    values: &'a [u8],
    rows: Rows,
    each: Each,
}

impl<Rows: Iterator<Item = usize>, Each: FnMut(usize, i32)> SimdOp for DotProducts<'_, Rows, Each> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, _isa: I) {
        portable_dot_products(self.query, self.values, self.rows, self.each);
    }
}

struct Distances<'a, Rows, Each> {
    query: &'a [u8],
    signs: &'a [u8],
    rows: Rows,
    each: Each,
}

impl<Rows: Iterator<Item = usize>, Each: FnMut(usize, u32)> SimdOp for Distances<'_, Rows, Each> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, _isa: I) {
        portable_distances(self.query, self.signs, self.rows, self.each);
    }
}

#[inline(always)]
fn portable_dot_products(
    query: &[u8],
    values: &[u8],
    rows: impl Iterator<Item = usize>,
    mut each: impl FnMut(usize, i32),
) {
    let width = query.len();
    for row in rows {
        let values = &values[row * width..][..width];
        let products = query
            .iter()
            .zip(values)
            .map(|(left, right)| i32::from(left.cast_signed()) * i32::from(right.cast_signed()));
        each(row, products.sum());
    }
}

#[inline(always)]
fn portable_distances(
    query: &[u8],
    signs: &[u8],
    rows: impl Iterator<Item = usize>,
    mut each: impl FnMut(usize, u32),
) {
    // The common size in one piece: a loop whose length is known takes half the time.
    if let Some(query) = query.as_array::<48>() {
        for row in rows {
            each(row, bits_that_differ(query, &signs[row * 48..][..48]));
        }
    } else {
        let width = query.len();
        for row in rows {
            each(row, bits_that_differ(query, &signs[row * width..][..width]));
        }
    }
}

#[inline(always)]
fn bits_that_differ(left: &[u8], right: &[u8]) -> u32 {
    let (left, left_rest) = left.as_chunks::<8>();
    let (right, right_rest) = right.as_chunks::<8>();
    let words = left
        .iter()
        .zip(right)
        .map(|(left, right)| (u64::from_ne_bytes(*left) ^ u64::from_ne_bytes(*right)).count_ones());
    let rest = left_rest.iter().zip(right_rest).map(|(left, right)| (left ^ right).count_ones());
    words.sum::<u32>() + rest.sum::<u32>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn collected<T>(run: impl FnOnce(&mut dyn FnMut(usize, T))) -> Vec<(usize, T)> {
        let mut all = Vec::new();
        run(&mut |row, value| all.push((row, value)));
        all
    }

    /// A query and some rows as long, of any length and of the common one.
    fn rows() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let width =
            prop_oneof![Just(48_usize), Just(384), (1_usize..70).prop_map(|n| n * 8), 1_usize..70];
        width.prop_flat_map(|width| {
            let bytes = |length| prop::collection::vec(any::<u8>(), length);
            (bytes(width), (0_usize..6).prop_flat_map(move |count| bytes(count * width)))
        })
    }

    proptest! {
        #[test]
        fn the_widest_instructions_give_what_plain_loops_give((query, values) in rows()) {
            let rows = || (0..values.len() / query.len()).rev();
            let fast = collected(|each| dot_products(&query, &values, rows(), each));
            let plain = collected(|each| portable_dot_products(&query, &values, rows(), each));
            prop_assert_eq!(fast, plain);
            let fast = collected(|each| distances(&query, &values, rows(), each));
            let plain = collected(|each| portable_distances(&query, &values, rows(), each));
            prop_assert_eq!(fast, plain);
        }
    }

    #[test]
    fn the_largest_sums_are_right() {
        let (low, high) = (vec![0x81; 8_192], vec![0x7f; 8_192]);
        let dot =
            |left: &[u8], right: &[u8]| collected(|each| dot_products(left, right, 0..1, each));
        assert_eq!(dot(&low, &high), [(0, -127 * 127 * 8_192)]);
        assert_eq!(dot(&low, &low), [(0, 127 * 127 * 8_192)]);
        let distance = collected(|each| distances(&[0; 48], &[0xff; 96], [1].into_iter(), each));
        assert_eq!(distance, [(1, 384)]);
    }
}
