//! The two inner loops: integer dot products, and Hamming distances.
//!
//! Both are plain loops over integers. `rten-simd`, which also runs the models, picks the widest
//! instructions of the processor at run time and enters a function compiled for them; the loop is
//! inlined there and compiles to what one would write by hand. So there is no `unsafe` here, no loop
//! for each processor, and the same results everywhere. `inline(always)` is essential: a loop that
//! stayed a function of its own would only use the instructions that all processors have.

use rten_simd::{Isa, SimdOp};

use super::scope::Rows;

/// Writes the dot products of `query` and the selected `rows` of `values` to `into`, which has one
/// element for each of them. The rows are as long as the query and contiguous.
///
/// 100,000 rows of 384 take 1.3 ms (AVX-512, one thread); with the instructions of all processors, 7.3
/// ms.
pub(super) fn dot_products(query: &[u8], values: &[u8], rows: &Rows, into: &mut [i32]) {
    DotProducts { query, values, rows, into }.dispatch();
}

/// Writes the number of bits in which `query` and the selected `rows` of `signs` differ, below 65,536,
/// to `into`, which has one element for each of them.
///
/// 360,000 rows of 384 bits take 0.7 ms (AVX-512, one thread). Passing each to a function instead takes
/// four times as long: the loop can then no longer be vectorised.
pub(super) fn distances(query: &[u8], signs: &[u8], rows: &Rows, into: &mut [u16]) {
    Distances { query, signs, rows, into }.dispatch();
}

struct DotProducts<'a> {
    query: &'a [u8],
    values: &'a [u8],
    rows: &'a Rows,
    into: &'a mut [i32],
}

impl SimdOp for DotProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, _isa: I) {
        portable_dot_products(self.query, self.values, self.rows, self.into);
    }
}

struct Distances<'a> {
    query: &'a [u8],
    signs: &'a [u8],
    rows: &'a Rows,
    into: &'a mut [u16],
}

impl SimdOp for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, _isa: I) {
        portable_distances(self.query, self.signs, self.rows, self.into);
    }
}

#[inline(always)]
fn portable_dot_products(query: &[u8], values: &[u8], rows: &Rows, into: &mut [i32]) {
    let width = query.len();
    let product = |values: &[u8]| dot_product(query, values);
    match rows {
        Rows::All(_) => fill(into, values.chunks_exact(width), product),
        Rows::Some(rows) => {
            let row = |row: &u32| &values[*row as usize * width..][..width];
            fill(into, rows.iter().map(row), product);
        }
    }
}

#[inline(always)]
fn portable_distances(query: &[u8], signs: &[u8], rows: &Rows, into: &mut [u16]) {
    let width = query.len();
    let distance = |signs: &[u8]| bits_that_differ(query, signs) as u16;
    match (query.as_array::<48>(), rows) {
        // A special case for the common size: a loop of known length takes half the time.
        (Some(query), Rows::All(_)) => {
            let distance = |signs: &[u8; 48]| bits_that_differ(query, signs) as u16;
            fill(into, signs.as_chunks::<48>().0.iter(), distance);
        }
        (_, Rows::All(_)) => fill(into, signs.chunks_exact(width), distance),
        (_, Rows::Some(rows)) => {
            let row = |row: &u32| &signs[*row as usize * width..][..width];
            fill(into, rows.iter().map(row), distance);
        }
    }
}

#[inline(always)]
fn fill<Row, T>(into: &mut [T], rows: impl Iterator<Item = Row>, measure: impl Fn(Row) -> T) {
    for (place, row) in into.iter_mut().zip(rows) {
        *place = measure(row);
    }
}

#[inline(always)]
fn dot_product(left: &[u8], right: &[u8]) -> i32 {
    let products = left
        .iter()
        .zip(right)
        .map(|(left, right)| i32::from(left.cast_signed()) * i32::from(right.cast_signed()));
    products.sum()
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

    /// Returns all rows, and some of them in another order.
    fn scopes(query: &[u8], rows: &[u8]) -> [Rows; 2] {
        let count = rows.len() / query.len();
        [Rows::All(count), Rows::Some((0..count as u32).rev().step_by(2).collect())]
    }

    /// Generates a query and some rows of the same length, arbitrary or the common one.
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
            for rows in scopes(&query, &values) {
                let (mut fast, mut plain) = (vec![7; rows.len()], vec![9; rows.len()]);
                dot_products(&query, &values, &rows, &mut fast);
                portable_dot_products(&query, &values, &rows, &mut plain);
                prop_assert_eq!(fast, plain);
                let (mut fast, mut plain) = (vec![7; rows.len()], vec![9; rows.len()]);
                distances(&query, &values, &rows, &mut fast);
                portable_distances(&query, &values, &rows, &mut plain);
                prop_assert_eq!(fast, plain);
            }
        }
    }

    #[test]
    fn the_largest_sums_are_right() {
        let (low, high) = (vec![0x81; 8_192], vec![0x7f; 8_192]);
        let dot = |left: &[u8], right: &[u8]| {
            let mut product = [0];
            dot_products(left, right, &Rows::All(1), &mut product);
            product[0]
        };
        assert_eq!(dot(&low, &high), -127 * 127 * 8_192);
        assert_eq!(dot(&low, &low), 127 * 127 * 8_192);
        let mut distance = [0; 2];
        distances(&[0; 48], &[0xff; 96], &Rows::All(2), &mut distance);
        assert_eq!(distance, [384, 384]);
        distances(&[0x0f; 1_024], &[0xff; 1_024], &Rows::Some(vec![0]), &mut distance);
        assert_eq!(distance, [4_096, 384]);
    }
}
