//! A redirect that the person pastes, because the browser is on another machine.

use std::sync::{Arc, Mutex};

use agentwire_mcp_auth::client::Browser;

use super::{Login, browser};

/// A browser with these texts to paste, and what each was read after.
fn pasting(texts: &[&str]) -> (Browser, Arc<Mutex<Vec<bool>>>) {
    let mut texts = texts.iter().map(ToString::to_string).collect::<Vec<_>>().into_iter();
    let (next, log) = (Arc::new(Mutex::new(move || texts.next())), Arc::<Mutex<Vec<bool>>>::default());
    let seen = log.clone();
    let read = move |again| {
        seen.lock().unwrap().push(again);
        let text = (next.lock().unwrap())();
        async move { text }
    };
    (browser().on_url(|_| {}).pasted(read), log)
}

#[tokio::test]
async fn a_pasted_redirect_ends_the_login() {
    let (browser, log) = pasting(&["http://127.0.0.1:1/callback?code=c&state=right"]);
    let login = Login::start(browser).await;
    assert_eq!(login.result.await.unwrap().unwrap(), "code=c&state=right");
    assert_eq!(*log.lock().unwrap(), [false]);
}

#[tokio::test]
async fn a_text_that_is_no_redirect_of_the_login_is_asked_for_again() {
    let (browser, log) =
        pasting(&["", "http://127.0.0.1:1/callback?code=c&state=wrong", "code=d&state=right"]);
    let login = Login::start(browser).await;
    assert_eq!(login.result.await.unwrap().unwrap(), "code=d&state=right");
    assert_eq!(*log.lock().unwrap(), [false, true, true]);
}

#[tokio::test]
async fn the_browser_of_this_machine_is_waited_for_when_nothing_more_is_pasted() {
    let (browser, _) = pasting(&["nothing"]);
    assert_eq!(Login::start(browser).await.finish("code=c&state=right").await, "code=c&state=right");
}
