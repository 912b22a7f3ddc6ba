// A certified OpenID provider on loopback for the suite `team`: one client for itself, one for a person, who says yes to
// everything, and one for the review page. Arguments: the resource for which it issues JWTs. It prints its address.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const [resource] = process.argv.slice(2);
const SCOPES = 'files:read files:write files:approve files:undo-others';

const server = createServer().listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'robot',
        client_secret: 'robots-secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      {
        // The server itself: it asks about tokens, and has people sign in to its review page.
        client_id: 'emend',
        client_secret: 'se:cret',
        grant_types: ['authorization_code'],
        redirect_uris: [`${new URL(resource).origin}/review/signed-in`],
      },
      {
        client_id: 'desk',
        token_endpoint_auth_method: 'none',
        application_type: 'native',
        grant_types: ['authorization_code'],
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    ],
    scopes: ['openid', ...SCOPES.split(' ')],
    pkce: { required: () => true },
    extraTokenClaims: (_context, token) => ({ tenant: token.accountId ? 'red' : 'blue' }),
    findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_context, interaction) => `/yes/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, indicator) => ({
          scope: SCOPES,
          audience: indicator,
          // For any other resource, a token says nothing.
          accessTokenFormat: indicator === resource ? 'jwt' : 'opaque',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  provider.on('server_error', (_context, error) => console.error(error));
  server.on('request', async (request, response) => {
    if (!request.url.startsWith('/yes/')) return provider.callback()(request, response);
    try {
      // The person signs in and agrees.
      const { params, prompt } = await provider.interactionDetails(request, response);
      if (prompt.name === 'login') {
        return await provider.interactionFinished(request, response, { login: { accountId: 'ann' } });
      }
      const grant = new provider.Grant({ accountId: 'ann', clientId: params.client_id });
      grant.addOIDCScope(`openid ${params.scope}`);
      grant.addResourceScope(params.resource ?? resource, params.scope);
      const consent = { grantId: await grant.save() };
      await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
    } catch (error) {
      console.error(error);
      response.writeHead(500).end();
    }
  });
  console.log(JSON.stringify({ issuer }));
});
