//! A table of tokens that are recognised by their form: each host has its own prefixes.

use std::ops::{Range, RangeInclusive};

use crate::mask::random::consists_of_words;

/// The form of a host's tokens.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct TokenForm {
    /// The prefix. No letter or digit precedes it.
    pub prefix: &'static str,
    /// The fewest letters, digits, `_`, `-` and `.` that follow. If they consist of words, it is not a token.
    pub shortest: usize,
}

const fn form(prefix: &'static str, shortest: usize) -> TokenForm {
    TokenForm { prefix, shortest }
}

/// The forms of tokens that are masked in any text.
pub const TOKEN_FORMS: &[TokenForm] = &[
    // 1Password.
    form("ops_eyJ", 40),
    // Age.
    form("AGE-SECRET-KEY-", 40),
    // Anthropic, OpenAI, OpenRouter and others.
    form("sk-", 16),
    // Atlassian.
    form("ATATT3", 40),
    form("ATBB", 28),
    form("ATCTT3", 40),
    // AWS.
    form("AKIA", 16),
    form("ASIA", 16),
    // Buildkite.
    form("bkua_", 30),
    // Cerebras.
    form("csk-", 30),
    // CircleCI.
    form("CCIPAT_", 20),
    // Clerk, Stripe.
    form("sk_live_", 16),
    // Contentful.
    form("CFPAT-", 30),
    // crates.io.
    form("cio", 32),
    // Databricks.
    form("dapi", 32),
    // DigitalOcean.
    form("doo_v1_", 40),
    form("dop_v1_", 40),
    form("dor_v1_", 40),
    // Docker.
    form("dckr_oat_", 20),
    form("dckr_pat_", 20),
    // Doppler.
    form("dp.", 30),
    // Figma.
    form("figd_", 20),
    // Dropbox.
    form("sl.", 60),
    // Facebook.
    form("EAA", 60),
    // Fly.
    form("fm1_", 40),
    form("fm2_", 40),
    form("fo1_", 30),
    // GitHub.
    form("gho_", 20),
    form("ghp_", 20),
    form("ghr_", 20),
    form("ghs_", 20),
    form("ghu_", 20),
    form("github_pat_", 20),
    // GitLab.
    form("glagent-", 20),
    form("glcbt-", 20),
    form("gldt-", 20),
    form("glffct-", 20),
    form("glft-", 20),
    form("glimt-", 20),
    form("gloas-", 20),
    form("glpat-", 20),
    form("glptt-", 20),
    form("glrt-", 20),
    form("glsoat-", 20),
    // Google.
    form("1//0", 30),
    form("AIza", 35),
    form("GOCSPX-", 20),
    form("ya29.", 20),
    // Grafana.
    form("glc_", 30),
    form("glsa_", 30),
    // Groq.
    form("gsk_", 30),
    // HashiCorp Vault.
    form("hvb.", 30),
    form("hvs.", 20),
    // Heroku.
    form("HRKU-", 30),
    // Hugging Face.
    form("api_org_", 30),
    form("hf_", 30),
    // JFrog.
    form("AKCp", 60),
    // LangSmith.
    form("lsv2_", 30),
    // Linear.
    form("lin_api_", 30),
    form("lin_oauth_", 30),
    // Mailgun.
    form("key-", 32),
    // Neon.
    form("napi_", 40),
    // Netlify.
    form("nfp_", 30),
    // New Relic.
    form("NRAK-", 20),
    form("NRJS-", 16),
    // Notion.
    form("ntn_", 40),
    form("secret_", 40),
    // npm.
    form("npm_", 30),
    // NuGet.
    form("oy2", 43),
    // NVIDIA.
    form("nvapi-", 40),
    // Perplexity.
    form("pplx-", 30),
    // PlanetScale.
    form("pscale_", 30),
    // Postman.
    form("PMAK-", 40),
    // Prefect.
    form("pnu_", 30),
    // Pulumi.
    form("pul-", 40),
    // PyPI.
    form("pypi-", 16),
    // Render.
    form("rnd_", 20),
    // Replicate.
    form("r8_", 30),
    // RubyGems.
    form("rubygems_", 40),
    // SendGrid.
    form("SG.", 40),
    // Sentry.
    form("sntrys_", 40),
    form("sntryu_", 40),
    // Shopify.
    form("shpat_", 30),
    form("shpca_", 30),
    form("shppa_", 30),
    form("shpss_", 30),
    // Slack.
    form("xapp-", 10),
    form("xoxa-", 10),
    form("xoxb-", 10),
    form("xoxe-", 10),
    form("xoxe.", 10),
    form("xoxp-", 10),
    form("xoxr-", 10),
    form("xoxs-", 10),
    form("xwfp-", 10),
    // Square.
    form("sq0atp-", 20),
    form("sq0csp-", 30),
    // Stripe.
    form("rk_live_", 16),
    form("rk_test_", 16),
    form("sk_test_", 16),
    form("whsec_", 20),
    // Supabase.
    form("sb_secret_", 20),
    form("sbp_", 30),
    // Tailscale.
    form("tskey-", 16),
    // Tavily.
    form("tvly-", 16),
    // Vercel.
    form("vca_", 20),
    form("vck_", 20),
    form("vcp_", 20),
    // xAI.
    form("xai-", 40),
    // Airtable.
    form("pat", 70),
    // Alibaba.
    form("LTAI", 16),
    // Amazon Bedrock.
    form("ABSK", 60),
    // Apify.
    form("apify_api_", 30),
    // Brevo.
    form("xkeysib-", 60),
    // Cursor.
    form("key_", 60),
    // ElevenLabs.
    form("sk_", 40),
    // Firecrawl.
    form("fc-", 32),
    // HubSpot.
    form("pat-eu1-", 30),
    form("pat-na1-", 30),
    // Mapbox.
    form("sk.eyJ", 40),
    // OpenAI.
    form("sess-", 40),
    // Pinecone.
    form("pcsk_", 40),
    // PostHog.
    form("phx_", 30),
    // Resend.
    form("re_", 30),
    // Slack.
    form("xoxc-", 10),
    form("xoxd-", 10),
    // Snyk.
    form("snyk_uat.", 30),
    // SonarQube.
    form("sqa_", 40),
    form("sqp_", 40),
    form("squ_", 40),
    // Sourcegraph.
    form("sgp_", 40),
    // Together.
    form("tgp_v1_", 40),
    // Trello.
    form("ATTA", 60),
];

/// Beginnings of URLs whose paths are secrets, each with the fewest characters that follow.
const SECRET_PATHS: &[(&str, usize)] = &[
    ("discord.com/api/webhooks/", 30),
    ("discordapp.com/api/webhooks/", 30),
    ("hooks.slack.com/services/", 20),
    ("hooks.slack.com/triggers/", 20),
    ("hooks.slack.com/workflows/", 20),
    ("hooks.zapier.com/hooks/catch/", 10),
    ("webhook.office.com/", 30),
    ("api.telegram.org/bot", 30),
];

/// The places of tokens in a text.
pub(in crate::mask) fn tokens(text: &str) -> Vec<Range<usize>> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:@%".contains(byte);
    let mut found = Vec::new();
    for form in TOKEN_FORMS {
        let at = found.len();
        find(text, form.prefix, form.shortest, is_token, &mut found);
        let is_word = |byte: u8| byte.is_ascii_alphanumeric();
        let (first, last) = (form.prefix.len(), form.prefix.as_bytes()[form.prefix.len() - 1]);
        let mut behind = found.split_off(at);
        // A letter or digit follows a prefix that ends with one. Identifiers and host names may begin like a token.
        behind.retain(|range| {
            !consists_of_words(&text[range.clone()])
                && (!is_word(last) || is_word(text.as_bytes()[range.start]))
        });
        found.extend(behind.into_iter().map(|range| range.start - first..range.end));
    }
    for (host, shortest) in SECRET_PATHS {
        find(text, host, *shortest, is_path, &mut found);
    }
    find_three_parts(text, &mut found);
    found
}

/// The lengths of the three parts of a token of Discord, the first of which is a number in base64.
const DISCORD_PARTS: [RangeInclusive<usize>; 3] = [23..=28, 6..=6, 27..=40];

/// Adds the places of tokens of Discord. At each `.`, a bounded number of bytes before and after it is read.
fn find_three_parts(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let is_wanted = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let length =
        |from: usize, longest: usize| bytes[from..].iter().take(longest + 1).take_while(is_wanted).count();
    let [first, second, third] = DISCORD_PARTS;
    for (at, _) in text.match_indices('.') {
        let middle = length(at + 1, *second.end());
        let end = at + 1 + middle;
        if !second.contains(&middle) || bytes.get(end) != Some(&b'.') {
            continue;
        }
        let before = bytes[..at].iter().rev().take(first.end() + 1).take_while(is_wanted).count();
        let last = length(end + 1, *third.end());
        let begins_with_number = b"MNO".contains(&bytes[at - before.min(at)]);
        if first.contains(&before) && third.contains(&last) && begins_with_number {
            found.push(at - before..end + 1 + last);
        }
    }
}

/// Adds each run of at least `shortest` wanted bytes after a prefix.
fn find(
    text: &str,
    prefix: &str,
    shortest: usize,
    is_wanted: impl Fn(&u8) -> bool,
    found: &mut Vec<Range<usize>>,
) {
    let mut from = 0;
    while let Some(at) = text[from..].find(prefix) {
        let (at, start) = (from + at, from + at + prefix.len());
        from = start;
        let bytes = text.as_bytes();
        if at > 0 && bytes[at - 1].is_ascii_alphanumeric() && prefix.as_bytes()[0].is_ascii_alphanumeric() {
            continue;
        }
        let length = bytes[start..].iter().take_while(|byte| is_wanted(byte)).count();
        let end = start + text[start..start + length].trim_end_matches(['.', ':', '/']).len();
        if end - start >= shortest {
            from = start + length;
            found.push(start..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_found_from_its_prefix_to_its_end() {
        for form in TOKEN_FORMS {
            let token = format!("{}{}", form.prefix, "a1".repeat(form.shortest));
            let text = format!("one {token}. x{token} two_{token}");
            let found: Vec<_> = tokens(&text).into_iter().map(|range| text[range].to_owned()).collect();
            assert!(found.contains(&token), "{found:?}");
            let short = format!("{}{}", form.prefix, &"a1".repeat(form.shortest)[..form.shortest - 1]);
            assert_eq!(tokens(&short), [], "{short}");
        }
        for text in [
            "task-and-more-words-than-sixteen hf_x",
            "sk-button-primary-large-round sk-learn-something-rather-long-name",
            "npm_package_dependencies_typescript_eslint hf_transformers_model_name_very_long_here_ok",
            "secret_santa_planning_spreadsheet_2024_final_v2 api_org_members_list_pagination_helper",
            "dp.docker.registry.example.internal.host.name",
            "cio-something-long-a1b2c3d4e5f6g7h8i9j0k1l2m3",
            "com.example.Noun.values.more.words.in.a.name.of.a.class",
        ] {
            assert_eq!(tokens(text), [], "{text}");
        }
    }

    #[test]
    fn token_of_three_parts_is_found() {
        let token = "MTA5NTIyODk2OTU5NzA3MTM2.Gabcde.abcdefghijklmnopqrstuvwxyz0123456789AB";
        let text = format!("tok {token}. x{token}x a.b.c");
        let found: Vec<_> = tokens(&text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [token]);
    }

    #[test]
    fn path_of_a_webhook_is_a_secret() {
        let text = "POST https://hooks.slack.com/services/T0000000/B0000000/abcdefghijkl, done";
        let found: Vec<_> = tokens(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["T0000000/B0000000/abcdefghijkl"]);
    }
}
