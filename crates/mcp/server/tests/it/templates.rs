//! Resource templates.

use agentwire_mcp_server::schema::{BlobResourceContents, ServerCapabilities};
use agentwire_mcp_server::{Context, NoArguments, Server, ServerResourceTemplate, UriTemplateError};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::raw::{MODERN, NEWEST, REVISIONS, alone, code_of, with_raw, with_session};

#[derive(Deserialize)]
struct Page {
    book: String,
    page: Option<u32>,
}

async fn page(Page { book, page }: Page, _: Context) -> String {
    format!("{book}, page {}", page.unwrap_or(1))
}

async fn cover(Page { book, .. }: Page, _: Context) -> Vec<u8> {
    book.into_bytes()
}

fn library() -> Server {
    let pages = ServerResourceTemplate::new("books:///{book}{?page}", "page", page)
        .title("Pages")
        .description("A page of a book")
        .mime_type("text/plain");
    Server::new("library", "1")
        .resource_updates()
        .with_resource_template(pages)
        .resource_template("covers:///{book}", "cover", cover)
        .resource("books:///index", "index", async || "the index")
}

async fn text_at(raw: &mut crate::raw::Raw, uri: &str) -> Value {
    raw.result_of("resources/read", json!({ "uri": uri })).await["contents"][0]["text"].take()
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_read_by_the_values_in_its_uri() {
    with_session(&library(), NEWEST, async |raw| {
        let uri = "books:///Jane%20Eyre?page=12";
        let read = raw.result_of("resources/read", json!({ "uri": uri })).await;
        let contents = json!({ "uri": uri, "mimeType": "text/plain", "text": "Jane Eyre, page 12" });
        assert_eq!(read, json!({ "contents": [contents] }));
        assert_eq!(text_at(raw, "books:///Emma").await, "Emma, page 1");
        assert_eq!(text_at(raw, "books:///index").await, "the index", "what is listed itself comes first");
        let read = raw.result_of("resources/read", json!({ "uri": "covers:///Emma" })).await;
        let blob = BlobResourceContents::new("covers:///Emma", "RW1tYQ==");
        assert_eq!(read, json!({ "contents": [blob] }));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn uri_of_no_template_or_of_unreadable_values_is_no_resource() {
    for (uri, revision) in [
        ("books:///a/b", NEWEST),
        ("books:///Emma?page=twelve", NEWEST),
        ("books:///", NEWEST),
        ("books:///%ZZ", NEWEST),
        ("films:///Emma", NEWEST),
    ] {
        let answer = with_session(&library(), revision, async |raw| {
            raw.ask("resources/read", json!({ "uri": uri })).await
        })
        .await;
        assert_eq!((code_of(&answer), &answer["error"]["data"]["uri"]), (-32002, &json!(uri)));
    }
    with_raw(&library(), async |raw| {
        let answer = raw.ask("resources/read", alone(json!({ "uri": "books:///a/b" }))).await;
        assert_eq!(code_of(&answer), -32602, "in {MODERN}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn templates_are_listed_in_pages_of_their_own() {
    let server = library().page_size(1);
    for revision in REVISIONS {
        with_session(&server, revision, async |raw| {
            let first = raw.result_of("resources/templates/list", json!({})).await;
            assert_eq!(first["resourceTemplates"][0]["uriTemplate"], "books:///{book}{?page}");
            assert_eq!(first["resourceTemplates"][0]["title"].is_string(), revision >= "2025-06-18");
            let cursor = json!({ "cursor": first["nextCursor"] });
            let second = raw.result_of("resources/templates/list", cursor.clone()).await;
            let cover = json!({ "uriTemplate": "covers:///{book}", "name": "cover" });
            assert_eq!(second, json!({ "resourceTemplates": [cover] }));
            assert_eq!(raw.refusal_of("resources/list", cursor).await, -32602, "a cursor of another list");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_resource_of_a_template_can_be_watched() {
    let server = library();
    with_session(&server, NEWEST, async |raw| {
        raw.result_of("resources/subscribe", json!({ "uri": "books:///Emma" })).await;
        assert_eq!(raw.refusal_of("resources/subscribe", json!({ "uri": "books:///a/b" })).await, -32002);
        server.resource_updated("books:///Emma");
        let told = raw.next().await;
        assert_eq!(told["method"], "notifications/resources/updated");
        assert_eq!(told["params"], json!({ "uri": "books:///Emma" }));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn templates_come_and_go_while_clients_listen() {
    let server = library();
    with_session(&server, NEWEST, async |raw| {
        raw.ping().await;
        assert!(server.remove_resource_template("covers:///{book}"));
        assert_eq!(raw.next().await["method"], "notifications/resources/list_changed");
        assert_eq!(raw.refusal_of("resources/read", json!({ "uri": "covers:///Emma" })).await, -32002);
        assert!(!server.remove_resource_template("covers:///{book}"), "it is gone already");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_with_nothing_but_a_template_has_resources() {
    let server = Server::new("library", "1").resource_template("books:///{book}", "page", page);
    let capabilities = with_raw(&server, async |raw| {
        let mut answer = raw.initialize(NEWEST).await;
        serde_json::from_value::<ServerCapabilities>(answer["result"]["capabilities"].take())
    })
    .await
    .expect("capabilities");
    assert!(capabilities.has("resources"));
    assert!(!capabilities.has("completions"));
}

#[test]
#[should_panic(expected = "the resource template `books:///{book`: a brace has no partner")]
fn invalid_uri_template_is_refused() {
    assert!(matches!("{".parse::<agentwire_mcp_server::UriTemplate>(), Err(UriTemplateError::Brace(_))));
    let _ = ServerResourceTemplate::new("books:///{book", "page", async |_: NoArguments, _| "");
}

#[tokio::test(start_paused = true)]
async fn values_hold_no_nul_and_only_single_segments_where_that_is_wanted() {
    let segments = ServerResourceTemplate::new("shelf:///{book}{?page}", "page", page).segments_only();
    let server = library().with_resource_template(segments);
    with_session(&server, NEWEST, async |raw| {
        let reads = async |raw: &mut crate::raw::Raw, uri: &str| {
            raw.ask("resources/read", json!({ "uri": uri })).await.get("result").is_some()
        };
        for (value, is_any, is_segment) in [
            ("a%2Fb", true, false),
            ("..%2F..%2Fetc", true, false),
            ("%2e%2e", true, false),
            ("..", true, false),
            (".", true, false),
            ("a%5Cb", true, false),
            ("a%00b", false, false),
            ("...", true, true),
            ("Jane%20Eyre", true, true),
            ("a.b", true, true),
        ] {
            let (any, segment) = (format!("books:///{value}"), format!("shelf:///{value}"));
            assert_eq!((reads(raw, &any).await, reads(raw, &segment).await), (is_any, is_segment), "{value}");
        }
    })
    .await;
}
