//! Public keys: their form in JSON (RFC 7517), and the verification of signatures.

use std::fmt;

use agentwire_wire_derive::Build;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::jose::{Algorithm, JwtError, decode_base64url, encode_base64url, sha256_base64url};

/// A public key: EC on P-256 or P-384, RSA, or Ed25519.
///
/// Deserializing fails for other kinds of keys and for values that cannot be such a key. Unknown members and those of a private
/// key are dropped.
#[derive(Clone, PartialEq, Eq, Build)]
pub struct Jwk {
    material: Material,
    /// Sets the id of the key.
    #[build(name = with_kid, into)]
    kid: Option<String>,
    usage: Option<String>,
    alg: Option<String>,
    key_ops: Option<Vec<String>>,
}

/// The numbers of a key, as bytes in network order.
#[derive(Clone, PartialEq, Eq)]
enum Material {
    P256 { x: Vec<u8>, y: Vec<u8> },
    P384 { x: Vec<u8>, y: Vec<u8> },
    Rsa { n: Vec<u8>, e: Vec<u8> },
    Ed25519 { x: Vec<u8> },
}

/// A key as it stands in JSON.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Members {
    kty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    usage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_ops: Option<Vec<String>>,
}

impl Jwk {
    fn new(material: Material) -> Self {
        Self { material, kid: None, usage: None, alg: None, key_ops: None }
    }

    /// A key from a point on the curve of an algorithm: 0x04 and two coordinates. `None` for another form.
    pub(crate) fn from_point(algorithm: Algorithm, point: &[u8]) -> Option<Self> {
        let (first, coordinates) = point.split_first()?;
        let (x, y) = coordinates.split_at_checked(coordinates.len() / 2)?;
        let (x, y) = (x.to_vec(), y.to_vec());
        match (algorithm, first, coordinates.len()) {
            (Algorithm::Es256, 4, 64) => Some(Self::new(Material::P256 { x, y })),
            (Algorithm::Es384, 4, 96) => Some(Self::new(Material::P384 { x, y })),
            _ => None,
        }
    }

    pub(crate) fn from_ed25519(x: &[u8]) -> Self {
        Self::new(Material::Ed25519 { x: x.to_vec() })
    }

    pub(crate) fn from_rsa(n: Vec<u8>, e: Vec<u8>) -> Self {
        Self::new(Material::Rsa { n, e })
    }

    /// The id of the key, by which tokens name it.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Sets the purpose of the key: `use` is `sig`, and the algorithm.
    #[must_use]
    pub fn for_signatures(mut self, algorithm: Algorithm) -> Self {
        self.usage = Some("sig".to_owned());
        self.alg = Some(algorithm.as_str().to_owned());
        self
    }

    /// The hash that names the key (RFC 7638): SHA-256, in base64url.
    pub fn thumbprint(&self) -> String {
        let encode = |bytes: &Vec<u8>| encode_base64url(bytes);
        // The members that RFC 7638, section 3.2, and RFC 8037 name, in the order of their names.
        let text = match &self.material {
            Material::P256 { x, y } => ec_thumbprint("P-256", &encode(x), &encode(y)),
            Material::P384 { x, y } => ec_thumbprint("P-384", &encode(x), &encode(y)),
            Material::Rsa { n, e } => format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, encode(e), encode(n)),
            Material::Ed25519 { x } => format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, encode(x)),
        };
        sha256_base64url(text.as_bytes())
    }

    /// Whether the key is for signatures with that algorithm, by its kind and by its members.
    pub fn verifies(&self, algorithm: Algorithm) -> bool {
        let fits = match &self.material {
            Material::P256 { .. } => algorithm == Algorithm::Es256,
            Material::P384 { .. } => algorithm == Algorithm::Es384,
            Material::Rsa { .. } => rsa_parameters(algorithm).is_some(),
            Material::Ed25519 { .. } => algorithm == Algorithm::EdDsa,
        };
        fits && self.usage.as_deref().is_none_or(|usage| usage == "sig")
            && self.alg.as_deref().is_none_or(|alg| Algorithm::parse(alg) == Some(algorithm))
            && self.key_ops.as_ref().is_none_or(|all| all.iter().any(|one| one == "verify"))
    }

    /// Checks a signature.
    pub(crate) fn verify(
        &self,
        algorithm: Algorithm,
        signed: &[u8],
        signature: &[u8],
    ) -> Result<(), JwtError> {
        if !self.verifies(algorithm) {
            return Err(JwtError::Key(algorithm));
        }
        let point = |x: &[u8], y: &[u8]| [&[4], x, y].concat();
        let verify = |how: &'static dyn VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(how, key).verify(signed, signature)
        };
        let verified = match &self.material {
            Material::P256 { x, y } => verify(&signature::ECDSA_P256_SHA256_FIXED, &point(x, y)),
            Material::P384 { x, y } => verify(&signature::ECDSA_P384_SHA384_FIXED, &point(x, y)),
            Material::Ed25519 { x } => verify(&signature::ED25519, x),
            Material::Rsa { n, e } => {
                let parameters = rsa_parameters(algorithm).ok_or(JwtError::Key(algorithm))?;
                RsaPublicKeyComponents { n, e }.verify(parameters, signed, signature)
            }
        };
        verified.map_err(|_| JwtError::Signature)
    }
}

fn ec_thumbprint(curve: &str, x: &str, y: &str) -> String {
    format!(r#"{{"crv":"{curve}","kty":"EC","x":"{x}","y":"{y}"}}"#)
}

/// The parameters that verify RSA signatures, with keys of 2,048 to 8,192 bits. `None` for another algorithm.
fn rsa_parameters(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

impl Members {
    fn material(&self) -> Option<Material> {
        let number = |text: &Option<String>| decode_base64url(text.as_deref()?);
        let sized = |text, length| number(text).filter(|bytes| bytes.len() == length);
        // Some encoders leave a zero byte for the sign, which `ring` and the thumbprint do not have.
        let unsigned = |text| {
            let bytes = number(text)?;
            let start = bytes.iter().position(|byte| *byte != 0)?;
            Some(bytes.get(start..)?.to_vec())
        };
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("EC", Some("P-256")) => Some(Material::P256 { x: sized(&self.x, 32)?, y: sized(&self.y, 32)? }),
            ("EC", Some("P-384")) => Some(Material::P384 { x: sized(&self.x, 48)?, y: sized(&self.y, 48)? }),
            ("OKP", Some("Ed25519")) => Some(Material::Ed25519 { x: sized(&self.x, 32)? }),
            ("RSA", _) => Some(Material::Rsa { n: unsigned(&self.n)?, e: unsigned(&self.e)? }),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Jwk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        let material = members.material().ok_or_else(|| D::Error::custom("no public key of a known kind"))?;
        let Members { kid, usage, alg, key_ops, .. } = members;
        Ok(Self { material, kid, usage, alg, key_ops })
    }
}

impl Serialize for Jwk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let encode = |bytes: &Vec<u8>| Some(encode_base64url(bytes));
        let mut members = Members::default();
        let (kty, crv) = match &self.material {
            Material::P256 { x, y } => {
                (members.x, members.y) = (encode(x), encode(y));
                ("EC", Some("P-256"))
            }
            Material::P384 { x, y } => {
                (members.x, members.y) = (encode(x), encode(y));
                ("EC", Some("P-384"))
            }
            Material::Ed25519 { x } => {
                members.x = encode(x);
                ("OKP", Some("Ed25519"))
            }
            Material::Rsa { n, e } => {
                (members.n, members.e) = (encode(n), encode(e));
                ("RSA", None)
            }
        };
        members.kty = kty.to_owned();
        members.crv = crv.map(str::to_owned);
        (members.kid, members.usage) = (self.kid.clone(), self.usage.clone());
        (members.alg, members.key_ops) = (self.alg.clone(), self.key_ops.clone());
        members.serialize(serializer)
    }
}

impl fmt::Debug for Jwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwk")
            .field("thumbprint", &self.thumbprint())
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}
