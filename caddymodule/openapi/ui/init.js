// A master token that is typed in here stays in this page's memory alone, and
// nothing but this edge is asked for anything.
SwaggerUIBundle({
  url: "api-docs/openapi.json",
  dom_id: "#swagger-ui",
  persistAuthorization: false,
  validatorUrl: null,
  queryConfigEnabled: false,
});
