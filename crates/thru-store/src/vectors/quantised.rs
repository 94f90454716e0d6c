//! Vectors as 8-bit integers, and their signs.

use super::Shape;
use crate::error::{Result, StoreError};

/// The largest component. The smallest is its negative, so that a vector and its negative are quantised
/// alike.
const LARGEST: f32 = 127.0;

/// A quantised vector: each component is about `scale` times its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantised {
    /// The components, from -127 to 127, as bytes in two's complement.
    pub(super) values: Vec<u8>,
    pub(super) scale: f32,
    /// A bit for each component, lowest first: set if it is not negative.
    pub(super) signs: Vec<u8>,
}

impl Quantised {
    /// Returns an error if a component is not a finite number.
    pub(super) fn new(vector: &[f32]) -> Result<Self> {
        if !vector.iter().all(|component| component.is_finite()) {
            let detail = "a component is not a finite number".to_owned();
            return Err(StoreError::Vectors { detail });
        }
        let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = largest / LARGEST;
        let quantise = |component: &f32| {
            let value = if scale > 0.0 { (component / scale).round() } else { 0.0 };
            (value.clamp(-LARGEST, LARGEST) as i8).cast_unsigned()
        };
        let sign = |(bit, component): (usize, &f32)| u8::from(*component >= 0.0) << bit;
        let signs = |eight: &[f32]| eight.iter().enumerate().map(sign).sum();
        Ok(Self {
            values: vector.iter().map(quantise).collect(),
            scale,
            signs: vector.chunks(8).map(signs).collect(),
        })
    }

    /// As [`Quantised::new`]; also returns an error if the vector has other dimensions.
    pub(super) fn of_shape(vector: &[f32], shape: &Shape) -> Result<Self> {
        if vector.len() != shape.dimensions {
            let (found, wanted) = (vector.len(), shape.dimensions);
            let detail = format!("a vector of {found} dimensions instead of {wanted}");
            return Err(StoreError::Vectors { detail });
        }
        Self::new(vector)
    }
}

/// A query vector, to which others are compared.
#[derive(Clone, Debug)]
pub struct Query(pub(super) Quantised);

impl Query {
    /// Quantises a query vector of unit length. It finds nothing among vectors of other dimensions.
    ///
    /// # Errors
    /// Returns an error if a component is not a finite number.
    pub fn new(vector: &[f32]) -> Result<Self> {
        Quantised::new(vector).map(Self)
    }

    pub(super) fn fits(&self, shape: &Shape) -> bool {
        self.0.values.len() == shape.dimensions
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_component_is_off_by_half_a_step_at_most(
            vector in prop::collection::vec(-3.0_f32..3.0, 8..64),
        ) {
            let kept = Quantised::new(&vector).unwrap();
            for (component, value) in vector.iter().zip(&kept.values) {
                let back = f32::from(value.cast_signed()) * kept.scale;
                prop_assert!((back - component).abs() <= kept.scale * 0.5001);
            }
        }

        #[test]
        fn any_finite_vector_can_be_kept(vector in prop::collection::vec(any::<f32>(), 8)) {
            prop_assert_eq!(
                Quantised::new(&vector).is_ok(),
                vector.iter().all(|component| component.is_finite()),
            );
            if let Ok(kept) = Quantised::new(&vector) {
                prop_assert!(kept.scale.is_finite() && !kept.values.contains(&0x80));
            }
        }
    }

    #[test]
    fn signs_and_values_of_a_vector_are_these() {
        let kept = Quantised::new(&[0.5, -1.0, 0.0, -0.25, 1.0, -0.001, -0.5, 0.0]).unwrap();
        let values: Vec<i8> = kept.values.iter().map(|value| value.cast_signed()).collect();
        assert_eq!(values, [64, -127, 0, -32, 127, 0, -64, 0]);
        assert_eq!(kept.signs, [0b1001_0101]);
    }

    #[test]
    fn what_has_no_direction_is_kept_as_nothing() {
        let kept = Quantised::new(&[0.0; 16]).unwrap();
        assert_eq!((kept.scale, kept.values), (0.0, vec![0; 16]));
    }
}
