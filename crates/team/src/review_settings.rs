//! The settings of the review page: how people sign in to it.

use std::path::PathBuf;

use crate::file::Values;

/// The review page, on which people decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewSettings {
    /// How people sign in with an authority; without it, they have tokens.
    pub client: Option<ReviewClient>,
}

/// This server as a client of an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewClient {
    /// The authority.
    pub issuer: String,
    /// The name by which it knows the client.
    pub name: String,
    /// The file with the secret, unless the client is a public one.
    pub secret_file: Option<PathBuf>,
    /// The scopes that are asked for.
    pub scopes: Vec<String>,
}

/// Reads the table. `issuers` are the authorities that there are.
pub(crate) fn review(
    values: &Values,
    resource: Option<&str>,
    issuers: &[&str],
) -> Result<ReviewSettings, String> {
    resource.ok_or("'resource' must be set, by which browsers reach the page")?;
    let Some(name) = values.text("client") else {
        return match ["secret_file", "authority", "scopes"].iter().find(|key| values.texts(key).is_some()) {
            Some(key) => Err(format!("'{key}' needs a 'client'")),
            None => Ok(ReviewSettings { client: None }),
        };
    };
    let issuer = match (values.text("authority"), issuers) {
        (Some(issuer), _) if issuers.contains(&&*issuer) => issuer,
        (Some(issuer), _) => return Err(format!("there is no authority {issuer}")),
        (None, [only]) => (*only).to_owned(),
        (None, []) => return Err("a 'client' needs an [[authority]]".into()),
        (None, _) => return Err("it must say with which authority people sign in".into()),
    };
    let usual = || ["files:read", "files:write", "files:approve"].map(str::to_owned).to_vec();
    Ok(ReviewSettings {
        client: Some(ReviewClient {
            issuer,
            name,
            secret_file: values.text("secret_file").map(PathBuf::from),
            scopes: values.texts("scopes").unwrap_or_else(usual),
        }),
    })
}

#[cfg(test)]
mod tests {
    use crate::TeamSettings;

    const AUTHORITY: &str = "[[authority]]\nissuer = \"https://id.example\"\n";
    const OTHER: &str = "[[authority]]\nissuer = \"https://other.example\"\n";

    fn parse(settings: &str) -> Result<TeamSettings, String> {
        TeamSettings::parse(&format!("resource = \"https://files.example/mcp\"\n{settings}"))
    }

    #[test]
    fn people_sign_in_with_the_only_authority_or_with_the_one_that_is_named() {
        let client = |settings: &str| {
            let all = parse(settings).unwrap_or_else(|why| panic!("{why}"));
            all.review.unwrap_or_else(|| panic!("it is there")).client
        };
        assert_eq!(client("[review]\n"), None);
        let one =
            client(&format!("[review]\nclient = \"emend\"\n{AUTHORITY}")).map(|one| (one.issuer, one.scopes));
        let usual = ["files:read", "files:write", "files:approve"].map(str::to_owned).to_vec();
        assert_eq!(one, Some(("https://id.example".into(), usual)));
        let named = "[review]\nclient = \"emend\"\nauthority = \"https://other.example\"\nscopes = [\"files:read\"]\n";
        let one = client(&format!("{named}{AUTHORITY}{OTHER}")).map(|one| (one.issuer, one.scopes));
        assert_eq!(one, Some(("https://other.example".into(), vec!["files:read".into()])));
        assert_eq!(parse(AUTHORITY).map(|all| all.review), Ok(None));
    }

    #[test]
    fn what_nobody_could_sign_in_with_is_refused() {
        for (settings, said) in [
            ("[review]\nclient = \"emend\"\n".to_owned(), "needs an [[authority]]"),
            (format!("[review]\nsecret_file = \"/a\"\n{AUTHORITY}"), "'secret_file' needs a 'client'"),
            (format!("[review]\nclient = \"emend\"\n{AUTHORITY}{OTHER}"), "with which authority"),
            (
                format!("[review]\nclient = \"emend\"\nauthority = \"https://x.example\"\n{AUTHORITY}"),
                "there is no authority https://x.example",
            ),
        ] {
            let error = parse(&settings).expect_err(&settings);
            assert!(error.contains(said), "{said}: {error}");
        }
        let error = TeamSettings::parse("[review]\n").expect_err("no resource");
        assert!(error.contains("'resource' must be set"), "{error}");
    }
}
