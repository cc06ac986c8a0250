//! Tokens that their form shows, as a table: each host begins its tokens with a word of its own.

use std::ops::Range;

/// The form of a host's tokens.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct TokenForm {
    /// The beginning. Neither a letter nor a digit stands before it.
    pub prefix: &'static str,
    /// The fewest letters, digits, `_`, `-` and `.` that follow.
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
];

/// A path of a URL that is a secret by itself, and the fewest characters of it that follow.
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
pub(super) fn tokens(text: &str) -> Vec<Range<usize>> {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let is_path = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:@%".contains(byte);
    let mut found = Vec::new();
    for form in TOKEN_FORMS {
        let at = found.len();
        find(text, form.prefix, form.shortest, is_token, &mut found);
        for range in &mut found[at..] {
            range.start -= form.prefix.len();
        }
    }
    for (host, shortest) in SECRET_PATHS {
        find(text, host, *shortest, is_path, &mut found);
    }
    found
}

/// Adds the places behind a prefix that have at least so many of the wanted bytes.
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
        assert_eq!(tokens("task-and-more-words-than-sixteen hf_x"), []);
    }

    #[test]
    fn path_of_a_webhook_is_a_secret() {
        let text = "POST https://hooks.slack.com/services/T0000000/B0000000/abcdefghijkl, done";
        let found: Vec<_> = tokens(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["T0000000/B0000000/abcdefghijkl"]);
    }
}
