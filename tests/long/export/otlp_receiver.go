// SPDX-License-Identifier: MIT
// The OTLP receiver of OpenTelemetry's collector, as Debian packages it: listens on 127.0.0.1:PORT, and prints for each request a line
// with its profiles, resources, samples and the sum of their values.
package main

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

func take(_ context.Context, profiles pprofile.Profiles) error {
	samples, profileCount := 0, 0
	sum := int64(0)
	resources := profiles.ResourceProfiles()
	for r := 0; r < resources.Len(); r++ {
		scopes := resources.At(r).ScopeProfiles()
		for s := 0; s < scopes.Len(); s++ {
			all := scopes.At(s).Profiles()
			profileCount += all.Len()
			for p := 0; p < all.Len(); p++ {
				each := all.At(p).Samples()
				samples += each.Len()
				for i := 0; i < each.Len(); i++ {
					for _, value := range each.At(i).Values().AsRaw() {
						sum += value
					}
				}
			}
		}
	}
	fmt.Println(profileCount, resources.Len(), samples, sum)
	return nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	check(confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": "127.0.0.1:" + os.Args[1]}}}).Unmarshal(config))
	consumer, err := xconsumer.NewProfiles(take)
	check(err)
	receiver, err := factory.(xreceiver.Factory).CreateProfiles(context.Background(), receivertest.NewNopSettings(factory.Type()), config, consumer)
	check(err)
	check(receiver.Start(context.Background(), componenttest.NewNopHost()))
	select {}
}
