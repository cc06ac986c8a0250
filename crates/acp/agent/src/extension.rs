//! The methods that the client handles of both versions share: extension messages and `is_closed`.

/// Defines these methods in an `impl` block of a type with the field `peer`.
macro_rules! extension_methods {
    () => {
        /// Sends an extension request. Fails without being sent if the method's name does not begin with `_`.
        pub fn extension_request<P, R>(&self, method: &str, params: &P) -> agentwire_peer::Call<R>
        where
            P: serde::Serialize + ?Sized,
            R: serde::de::DeserializeOwned + Send + 'static,
        {
            match $crate::outgoing::check_extension(method) {
                Ok(()) => self.peer.call_method(method, Some(params)),
                Err(why) => self.peer.refuse_call(why),
            }
        }

        /// Sends an extension notification. Fails without being sent if the method's name does not begin with `_`.
        pub fn extension_notification<P: serde::Serialize + ?Sized>(
            &self,
            method: &str,
            params: &P,
        ) -> agentwire_peer::Notify<'_> {
            match $crate::outgoing::check_extension(method) {
                Ok(()) => self.peer.notify_method(method, Some(params)),
                Err(why) => self.peer.refuse_notify(why),
            }
        }

        /// Returns whether the connection is closed.
        pub fn is_closed(&self) -> bool {
            self.peer.is_closed()
        }
    };
}
pub(crate) use extension_methods;
