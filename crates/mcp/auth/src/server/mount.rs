//! A whole server in one call: the layer around what is served, and the metadata beside it.

use agentwire_transport_http::server::Routes;
use tower_layer::Layer;

use crate::server::resource_server::ResourceServer;

impl ResourceServer {
    /// Puts everything in `routes` behind the [layer](Self::layer), with refusals that the web pages can read which the endpoints
    /// allow, and adds the [metadata](Self::metadata) at its paths, which needs no token.
    #[must_use]
    pub fn mount(&self, routes: Routes) -> Routes {
        let layer = self.layer();
        let routes = routes.wrap(|service| {
            let mount = service.clone();
            layer.clone().cors(move |headers| mount.cors(headers)).layer(service)
        });
        let metadata = self.metadata();
        self.metadata_paths().into_iter().fold(routes, |routes, path| routes.service(path, metadata.clone()))
    }
}
