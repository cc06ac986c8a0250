//! The faults of an authorization server on a socket, as its tokens, keys and answers show them to a resource server.

use std::time::Duration;

use agentwire_mcp_auth::AddressPolicy;
use agentwire_mcp_auth::server::{DpopPolicy, Issuer, ResourceServer};
use agentwire_mcp_auth_testkit::{AuthServer, Fault, RegisteredClient, Signer, TokenFormat, TokenSpec};
use agentwire_transport_http::client::Hyper;

use super::support::{OK, RESOURCE, Server};

fn hyper() -> Hyper {
    Hyper::new(Duration::from_secs(5)).unwrap()
}

fn by_keys(kit: &AuthServer) -> Server {
    by_keys_with(kit, |issuer| issuer)
}

fn by_keys_with(kit: &AuthServer, adjust: impl FnOnce(Issuer) -> Issuer) -> Server {
    let issuer = Issuer::jwks(kit.issuer(), hyper())
        .addresses(AddressPolicy::new().loopback(true))
        .timeout(Duration::from_secs(2))
        .refresh_interval(Duration::ZERO);
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(adjust(issuer));
    Server::of(auth.scopes(["mcp"]).dpop(DpopPolicy::Accept))
}

fn spec() -> TokenSpec {
    TokenSpec::new("mcp").audience(RESOURCE)
}

#[tokio::test]
async fn a_token_with_a_fault_is_refused_and_one_without_is_not() {
    for format in [TokenFormat::Es256, TokenFormat::Rs256] {
        let kit = AuthServer::builder().issuer_path("/tenant").token_format(format).start().await.unwrap();
        let server = by_keys(&kit);
        for fault in [
            Fault::TokenAlgNone,
            Fault::TokenHmacWithPublicKey,
            Fault::TokenSignatureWrong,
            Fault::TokenEmbeddedKey,
            Fault::TokenKeyIdPath,
            Fault::TokenAudienceWrong,
            Fault::TokenAudienceMissing,
            Fault::TokenIssuerWrong,
            Fault::TokenExpired,
            Fault::TokenExpiryMissing,
            Fault::TokenNotYetValid,
        ] {
            kit.set_times(fault, 1);
            let bad = kit.mint(spec());
            assert_eq!(kit.hits(fault), 1, "{fault:?}");
            let reply = server.bearer(&bad).await;
            assert_eq!(reply.status, 401, "{fault:?}");
            let good = kit.mint(spec());
            assert_eq!(server.bearer(&good).await.status, OK, "{fault:?}");
            let shown = format!(
                "{} {:?} {} {}",
                server.rejection(),
                server.rejection(),
                reply.body,
                reply.challenge()
            );
            assert!(
                kit.secrets().iter().all(|secret| !shown.contains(secret.as_str())),
                "{fault:?}: {shown}"
            );
        }
        assert_eq!(server.bearer(&kit.id_token("app", "ann")).await.status, 401);
        let strict = by_keys_with(&kit, Issuer::require_type);
        assert_eq!(strict.bearer(&kit.mint(spec())).await.status, OK);
        kit.set_times(Fault::TokenTypOfIdToken, 1);
        assert_eq!(strict.bearer(&kit.mint(spec())).await.status, 401);
        assert_eq!(
            strict.bearer(&kit.id_token(RESOURCE, "ann")).await.status,
            401,
            "an ID token for this server"
        );
    }
}

#[tokio::test]
async fn keys_with_a_fault_cost_no_client_its_token() {
    for (fault, status) in [
        (Fault::JwksOddKey, OK),
        (Fault::JwksWithoutKey, 401),
        (Fault::JwksFails, 503),
        (Fault::JwksNotJson, 503),
        (Fault::JwksRedirects, 503),
        (Fault::MetadataIssuerDiffers, 503),
        (Fault::MetadataEndless, 503),
    ] {
        let kit = AuthServer::builder().misbehave(fault).start().await.unwrap();
        let server = by_keys(&kit);
        let token = kit.mint(spec());
        assert_eq!(server.bearer(&token).await.status, status, "{fault:?}");
        assert!(kit.hits(fault) > 0, "{fault:?}");
        kit.clear(fault);
        assert_eq!(server.bearer(&token).await.status, OK, "{fault:?}");
    }
}

#[tokio::test]
async fn rotated_keys_are_found() {
    let kit = AuthServer::builder().start().await.unwrap();
    let server = by_keys(&kit);
    let old = kit.mint(spec());
    assert_eq!(server.bearer(&old).await.status, OK);
    kit.rotate_keys();
    assert_eq!(server.bearer(&kit.mint(spec())).await.status, OK);
}

#[tokio::test]
async fn a_proof_of_another_implementation_is_taken_once() {
    let kit = AuthServer::builder().start().await.unwrap();
    let (server, key) = (by_keys(&kit), Signer::es256("proof"));
    let token = kit.mint(spec().bound_to(&key));
    let proof = key.dpop_proof("POST", RESOURCE, None, Some(&token));
    let send = async |proof: &str| {
        let add = |request: &mut http::Request<_>| {
            request.headers_mut().insert("dpop", proof.parse().unwrap());
        };
        server.call_with(Some(&format!("DPoP {token}")), add).await.status
    };
    assert_eq!(send(&proof).await, OK);
    assert_eq!(send(&proof).await, 401);
    assert_eq!(send(&Signer::es256("other").dpop_proof("POST", RESOURCE, None, Some(&token))).await, 401);
    assert_eq!(send(&key.dpop_proof("GET", RESOURCE, None, Some(&token))).await, 401);
    assert_eq!(send(&key.dpop_proof("POST", "https://other.example/mcp", None, Some(&token))).await, 401);
    assert_eq!(server.bearer(&token).await.status, 401, "without a proof");
}

#[tokio::test]
async fn an_opaque_token_is_asked_about() {
    let kit = AuthServer::builder()
        .token_format(TokenFormat::Opaque)
        .introspection_auth(true)
        .client(RegisteredClient::new("mcp").secret_basic("s:3cret &"))
        .start()
        .await
        .unwrap();
    let make = || {
        let issuer =
            Issuer::introspection(kit.issuer(), kit.endpoint("introspect"), "mcp", "s:3cret &", hyper())
                .addresses(AddressPolicy::new().loopback(true))
                .timeout(Duration::from_secs(2))
                .remember(Duration::ZERO);
        Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(issuer).scopes(["mcp"]))
    };
    let (server, token) = (make(), kit.mint(spec()));
    let reply = server.bearer(&token).await;
    assert_eq!(reply.status, OK, "{} {:?}", reply.body, reply.challenge());
    assert_eq!(server.bearer("at-unknown").await.status, 401);
    assert_eq!(
        server.bearer(&kit.mint(TokenSpec::new("mcp").audience("https://other.example"))).await.status,
        401
    );
    assert_eq!(server.bearer(&kit.mint(spec().lifetime(Duration::ZERO))).await.status, 401);
    for fault in [Fault::IntrospectionFails, Fault::IntrospectionSlow] {
        kit.set_times(fault, 1);
        assert_eq!(server.bearer(&token).await.status, 503, "{fault:?}");
        assert_eq!(server.bearer(&token).await.status, OK, "{fault:?}");
    }
    kit.revoke_access_tokens();
    assert_eq!(server.bearer(&token).await.status, 401);
}
