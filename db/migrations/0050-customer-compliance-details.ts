import type { Migration } from '../../src/database/migration.ts'

// The original provider accepts these fields of customers. The service stores the fields unchanged, but neither uses
// nor returns them.
export const customerComplianceDetails: Migration = {
  name: '0050-customer-compliance-details',
  statements: (schema, { uuid, table }) => [
    table(
      schema
        .createTable('customer_compliance_details')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('customer_id', uuid, (c) => c.notNull())
        // The JSON text preserves the order of the members in the request.
        .addColumn('details', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('customer_compliance_details_key', ['merchant_id', 'customer_id'])
        .addForeignKeyConstraint('customer_compliance_details_customer', ['merchant_id', 'customer_id'], 'customers', [
          'merchant_id',
          'id',
        ]),
    ),
  ],
}
